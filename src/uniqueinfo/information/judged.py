"""What a removal does to predictions on the validation samples, judged by the training's own loss.

    value   (1/m) Σ_j ℓ(f_w₋(x_j), y_j) − ℓ(f_w(x_j), y_j)
    kl      (1/m) Σ_j KL(p_w(x_j) ‖ p_w₋(x_j)) in bits, p = softmax f, for classifiers

The KL is functional information with the classifier's own distribution in place of a smoothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training.losses import Loss


@dataclass(frozen=True, eq=False)
class Judged:
    """The validation samples after training on all samples."""

    probe: Probe
    outputs: Tensor
    """After training on all samples, (m, k)."""
    loss: Loss

    @classmethod
    def after(cls, probe: Probe, coordinates: Tensor, loss: Loss) -> Judged:
        """With weights of these coordinates (rank, columns)."""
        return cls(probe, probe.outputs(coordinates).flatten(1), loss)

    def __call__(self, delta: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Value and KL of changes (removals, columns, rank); None without targets, or without classes."""
        targets = None if self.probe.targets is None else self.probe.targets.flatten(1)
        value = None if targets is None else delta.new_zeros(len(delta))
        kl = delta.new_zeros(len(delta)) if self.loss.has_probabilities else None
        for part, moved in self.probe.movements(delta):
            before = self.outputs[part]
            after = (before - moved).flatten(0, 1)
            if value is not None and targets is not None:
                gained = self.loss.value(after, targets[part].repeat(len(delta), 1)).reshape(len(delta), -1)
                value += (gained - self.loss.value(before, targets[part])).sum(dim=1)
            if kl is not None:
                kl += self._divergence(before, after.reshape(moved.shape)).sum(dim=1)
        samples = self.probe.samples
        return (None if value is None else value / samples, None if kl is None else kl / (samples * math.log(2)))

    def _divergence(self, before: Tensor, after: Tensor) -> Tensor:
        """KL in nats, (removals, samples), by differences of logits: exact where they are tiny."""
        if before.shape[1] == 1:  # two classes that share a logit
            before, after = (torch.cat([torch.zeros_like(logit), logit], dim=-1) for logit in (before, after))
        p = torch.softmax(before, dim=-1)
        change = after - before
        mean = (p * change).sum(dim=-1)
        centred = change - mean[..., None]
        # KL = log Σ p e^(change) − Σ p change = log Σ p e^(centred) = log1p(Σ p (e^c − 1 − c))
        return torch.log1p((p * (torch.expm1(centred) - centred)).sum(dim=-1).clamp(min=0))
