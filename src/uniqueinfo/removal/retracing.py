"""How samples leave a training that happened: its own steps are taken again, by its own optimizer, for all removals.

With δ = w − w₋ the difference of the runs with and without a block of samples, a batch b moves the run without by

    Σ_{j ∈ b, staying} J_jᵀ g_j(f_j − J_j δ) / (how many of the batch stay)

where f are the network's own outputs at that step, and J its gradients, both between those at the checkpoints around
it. PyTorch's own optimizer takes the step, for the run with all samples and for every run without some: rates that
change, momentum that swings and second moments that lack a sample's gradients are what they were. Only weights that
stand for all (`jacobian.coordinates`) are followed.

Where it is not known which samples were in a batch, every step goes by all of them, as it does on average. Second
moments, which noise makes larger, then stay at what was recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from uniqueinfo.progress import progress
from uniqueinfo.removal.batches import Batch, batches_of
from uniqueinfo.removal.blocks import Block
from uniqueinfo.training import Recorded
from uniqueinfo.training.losses import Loss
from uniqueinfo.training.optimizers import couples, made
from uniqueinfo.types import Floats, Indices

_HELD = 3 * 2**29  # bytes of the removals that are followed at a time
_QUARTER = 4


@dataclass(frozen=True, eq=False)
class Between:
    """What is known at some steps, and even in between."""

    steps: tuple[int, ...]
    values: tuple[Tensor, ...]
    times: Floats
    """Sums of rates before every step: what "between" is measured by."""

    def at(self, step: int, index: Tensor | slice = slice(None)) -> Tensor:
        """Of some samples, or of whatever stands first, at a step."""
        later = min(int(np.searchsorted(self.steps, step, side="left")), len(self.steps) - 1)
        if later == 0:
            return self.values[0][index]
        here, before, after = (float(self.times[at]) for at in (step, self.steps[later - 1], self.steps[later]))
        share = (here - before) / (after - before) if after > before else 1.0
        return torch.lerp(self.values[later - 1][index], self.values[later][index], min(share, 1.0))

    def halved(self) -> Between:
        """With every second alone, and the last."""
        kept = sorted({*range(0, len(self.steps) - 1, 2), len(self.steps) - 1})[(len(self.steps) == 2) :]
        return replace(self, steps=tuple(self.steps[at] for at in kept), values=tuple(self.values[at] for at in kept))


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights that stand for all, in float32 as rows are; those of a group of the optimizer next to each other."""

    start: Tensor
    """Before training, (width,)."""
    scale: Tensor
    """By how much each counts."""
    groups: tuple[int, ...]
    """How many each group of the optimizer has."""

    def some(self, every: int) -> tuple[Tensor, Weights]:
        """Every second, third, … of them, for a closer look at less: which these are, and themselves."""
        chosen = torch.arange(0, len(self.start), every, device=self.start.device)
        ends = torch.tensor(self.groups).cumsum(0)
        counts = torch.bincount(torch.searchsorted(ends, chosen.cpu(), right=True), minlength=len(ends))
        scale = self.scale[chosen] * every**0.5
        return chosen, Weights(self.start[chosen], scale, tuple(int(count) for count in counts))


@dataclass(frozen=True, eq=False)
class Retraced:
    """All that the steps of a training need to be taken again."""

    training: Recorded
    loss: Loss
    weights: Weights
    rows: Between
    """J as it is, (samples, k, width), in float32 as it is computed; of what the loss sees of k outputs alone."""
    outputs: Between
    """(samples, k)."""
    targets: Tensor
    seen: Tensor | None = None
    """S, (k, mixtures): the loss sees Sᵀf of the outputs f; None where it sees all."""
    moments: Between | None = None
    """Second moments as they were recorded, (width,), where these are to be kept to."""
    first_order: bool = False
    """Whether only what is of first order in the removal is followed: a group then does what its samples do, summed."""

    @property
    def end(self) -> Tensor:
        """Weights count from where the training ended."""
        return torch.zeros_like(self.weights.start, dtype=torch.float64)

    def together(self, size: int) -> int:
        """How many removals of so many samples are followed at a time."""
        width, outputs = len(self.weights.start), self.targets.shape[1]
        return max(1, _HELD // (4 * width * (8 + 4 * outputs * size)))

    def halved(self) -> Retraced:
        """With half of the gradients, to see what these matter."""
        return replace(self, rows=self.rows.halved())

    def in_some_weights(self) -> Retraced:
        """In a quarter of the weights, which is quicker and less exact."""
        chosen, weights = self.weights.some(_QUARTER)
        moments = self.moments and replace(self.moments, values=tuple(value[chosen] for value in self.moments.values))
        rows = replace(self.rows, values=tuple(value[:, :, chosen] for value in self.rows.values))
        return replace(self, weights=weights, rows=rows, moments=moments)

    def mixed(self, pushes: Tensor) -> Tensor:
        """Of outputs, (…, k), what rows are of."""
        return pushes if self.seen is None else pushes @ self.seen.to(pushes)

    def unmixed(self, moved: Tensor) -> Tensor:
        """Of what rows are of, outputs (…, k), but for what the loss does not see."""
        return moved if self.seen is None else moved @ self.seen.T.to(moved)

    def __call__(self, block: Block) -> Tensor:
        """δ after the training, (removals, width), by how much each weight counts."""
        runs = _Runs(self, block.members)
        with progress("Training again, without", len(self.training.steps)) as advance:
            for batch in batches_of(self.training, len(self.targets), block.size, self.targets):
                runs.step(batch)
                advance(1)
        return (runs.delta() * self.weights.scale).double()


class _Runs:
    """The run with all samples, last, and the runs without some.

    Differences of two runs in float32 keep their digits, as weights count from the start wherever the optimizer lets
    them. One that is linear (SGD) takes the differences themselves: the run with all samples then stands still.
    """

    def __init__(self, of: Retraced, members: Indices) -> None:
        self._of, self._members = of, members
        about, weights = of.training.about, of.weights
        self._clip: float | None = about["clip"]
        self._linear = about["optimizer"] == "SGD" and self._clip is None and len(members) > 0
        moves_up = of.training.place == "next" and len(members) > 0
        self._ahead = _Runs(of, members[:0]) if moves_up else None
        """The run with all samples alone, a step ahead."""
        start = weights.start if couples(about) or not len(members) else torch.zeros_like(weights.start)
        self._tensors = [
            nn.Parameter(part.repeat(len(members) + 1, 1)) for part in torch.split(start, list(weights.groups))
        ]
        self._optimizer: Optimizer = made(about["optimizer"], self._tensors, about["options"])

    def delta(self) -> Tensor:
        """w − w₋ of every removal, (removals, width)."""
        each = [tensor.detach()[-1] - tensor.detach()[:-1] for tensor in self._tensors]
        return each[0] if len(each) == 1 else torch.cat(each, dim=1)

    def step(self, batch: Batch) -> None:
        """One step of the optimizer, for all runs."""
        of, scale, step = self._of, self._of.weights.scale, batch.step
        at = torch.from_numpy(batch.positions).to(scale.device)
        rows, outputs = of.rows.at(step, at).flatten(0, 1), of.outputs.at(step, at)
        if batch.said is not None:
            outputs = batch.said
            if self._ahead is not None:
                outputs[batch.size :] -= self._ahead.ahead(batch, rows, outputs)
        moved = (self.delta().mul_(scale.square()) @ rows.T).to(outputs).reshape(-1, len(at), len(rows) // len(at))
        whole, less = self._pushes(batch, outputs, of.targets[at], of.unmixed(moved))
        pushes = of.mixed(torch.cat([less, whole[None] * (not self._linear)]))
        gradients = pushes.flatten(1).to(rows) @ rows
        gradients[:-1].neg_().add_(gradients[-1])
        self._move(step, gradients)

    def ahead(self, batch: Batch, rows: Tensor, outputs: Tensor) -> Tensor:
        """How the step that all samples take moves those that are said a step later, (samples, k)."""
        of, own = self._of, batch.size * (len(rows) // len(outputs))
        targets = of.targets[torch.from_numpy(batch.positions[: batch.size]).to(outputs.device)]
        push = of.loss.gradient(outputs[: batch.size], targets) / (batch.size if of.training.reduction == "mean" else 1)
        before = torch.cat([tensor.detach()[-1] for tensor in self._tensors])
        self._move(batch.step, (of.mixed(push).flatten().to(rows) @ rows[:own])[None])
        step = torch.cat([tensor.detach()[-1] for tensor in self._tensors]) - before
        moved = (step * of.weights.scale.square()) @ rows[own:].T
        return of.unmixed(moved.to(outputs).reshape(len(outputs) - batch.size, len(rows) // len(outputs)))

    def _pushes(self, batch: Batch, outputs: Tensor, targets: Tensor, moved: Tensor) -> tuple[Tensor, Tensor]:
        """How the loss pushes outputs with all samples, and how much less of it each run has."""
        of = self._of
        there, without = batch.whole(outputs), batch.without(self._members, outputs)
        slope = of.loss.gradient(outputs, targets)
        size = batch.size if of.training.reduction == "mean" else 1
        fewer = of.training.reduction == "mean" and of.training.place != "shuffled"  # else others fill the batch
        whole = slope * there / size
        if of.first_order:
            bent = torch.einsum("bkl,rbl->rbk", of.loss.curvature(outputs, targets), moved) * there
            left = there - without
            shared = left.sum(dim=1, keepdim=True) * whole if fewer else 0.0
            return whole, (bent + left * slope - shared) / size
        after = of.loss.gradient((outputs - moved).flatten(0, 1), targets.repeat(len(moved), 1)).reshape(moved.shape)
        return whole, whole - after * without / (without.sum(dim=1, keepdim=True).clamp(min=1) if fewer else size)

    def _move(self, step: int, gradients: Tensor) -> None:
        """Hand gradients to the optimizer, those of all samples last."""
        of = self._of
        if self._clip is not None:
            norms = (gradients * of.weights.scale).norm(dim=1, keepdim=True)
            gradients *= (self._clip / (norms + 1e-6)).clamp(max=1)
        parts = torch.split(gradients, list(of.weights.groups), dim=1)
        for number, (part, tensor) in enumerate(zip(parts, self._tensors, strict=True)):
            tensor.grad = part
            self._optimizer.param_groups[number]["lr"] = float(of.training.steps.rates[step, number])
        self._optimizer.step()
        if of.moments is not None:
            wanted = torch.split(of.moments.at(step + 1), list(of.weights.groups))
            for part, tensor in zip(wanted, self._tensors, strict=True):
                seen = self._optimizer.state[tensor]["exp_avg_sq"]
                seen += part - seen[-1]
                seen.clamp_(min=0)
