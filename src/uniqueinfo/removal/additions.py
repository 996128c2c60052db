"""What a new sample would teach: its unique information once it is added to the training data.

With z the rows of the new sample (k × D), ρ its residual, and per pole p of the filter of n + 1 samples the resolvent
G = (H − p)⁻¹ and x = G Jᵀr of the n samples there are,

    (H + zᵀz − p)⁻¹ (Jᵀr + zᵀρ) = x + G zᵀ y,    y = (I + z G zᵀ)⁻¹ (ρ − z x)

so the weights move by Σⱼ cⱼ Gⱼ zᵀ yⱼ + c₀ zᵀρ, and, as the filter is another with one sample more, by
[φ₊(H) − φ(H)] Jᵀr, which all additions share. In coordinates of the eigenbasis G is diagonal; what of z lies outside
the span of the training rows sees G = −1/p, and enters through z zᵀ and J_val zᵀ alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.progress import progress
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.training import GradientDescent
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from uniqueinfo.linearization.linearization import Probe
    from uniqueinfo.linearization.origin import Origin


@dataclass(frozen=True, eq=False)
class Added:
    """What each new sample alone would change, added to the training data."""

    weight: Floats
    """½‖w₊ − w‖²."""
    functional: Floats | None
    """(1/2m) Σ_j ‖f_w₊(x_j) − f_w(x_j)‖² over the validation samples; None where there are none."""


def add_each(origin: Origin, inputs: Probe, targets: Tensor) -> Added:
    """Add each of the new samples, alone, with targets (samples, per_sample, columns).

    >>> from uniqueinfo.linearization.linearization import Linearization
    >>> from uniqueinfo.linearization.origin import Origin
    >>> from uniqueinfo.training import Converged
    >>> start = Linearization.from_features([[1.0]], [[2.0]])            # w = 2 · 1/(1 + 1) = 1
    >>> new = start.probe([[1.0]])
    >>> origin = Origin(start.train(Converged(1.0, reduction="sum")), new)
    >>> add_each(origin, new, torch.tensor([[[5.0]]])).weight            # w₊ = (2 + 5)/(2 + 1)
    array([0.88888889])
    """
    run, system = origin.run, origin.run.system
    if run.linearization.rows is None:
        raise InputError(
            "new samples are added through their Jacobian rows, and these scores know kernels alone: score the "
            "reference with a projection, such as projection=ui.Factorized(2000)"
        )
    filter = run.training.filter(run.samples + 1)
    if system.is_minimum_norm(filter):
        raise InputError("training to the end without weight decay has no filter to add samples to: add a little decay")
    reach = system.largest + _longest(inputs)
    adding = _Adding(origin, fit(filter, reach), run.coordinates_under(filter) - run.coordinates)
    residual = targets - inputs.initial
    weight, functional = np.empty((2, inputs.samples))
    with progress("Adding", inputs.samples) as advance:
        for part in slices(inputs.samples, adding.bytes_each):
            found = adding(inputs.rows[part], residual[part])
            weight[part] = found[0].cpu().numpy()
            if found[1] is not None:
                functional[part] = found[1].cpu().numpy()
            advance(part.stop - part.start)
    return Added(weight, None if origin.probe is None else functional)


def stable(origin: Origin, inputs: Probe) -> Origin:
    """The same, trained by gradient flow if descent at its rate may diverge once one of the inputs is added.

    An input with rows z raises the largest eigenvalue by no more than ‖z‖².
    """
    run = origin.run
    reach = run.system.largest + _longest(inputs)
    if not isinstance(run.training, GradientDescent):
        return origin
    if run.training.lr < run.training.largest_stable_rate(reach, run.samples + 1):
        return origin
    return replace(origin, run=run.linearization.train(run.training.flow()))


def _longest(inputs: Probe) -> float:
    """The largest ‖z‖² of any input."""
    return max(float(inputs.rows[part].square().sum(dim=(1, 2)).max()) for part in inputs.rows.chunks())


@dataclass(frozen=True, eq=False)
class _Adding:
    """All that additions have in common."""

    origin: Origin
    filter: Rational
    shift: Tensor  # [φ₊(s) − φ(s)] ∘ Zᵀr, (rank, columns)

    @property
    def bytes_each(self) -> int:
        """Memory that one addition takes."""
        probe, (_, rows, columns) = self.origin.probe, self.origin.run.residual.shape
        seen = 0 if probe is None else probe.samples
        return 16 * rows * (self.origin.run.system.rank * (len(self.filter.poles) + 2) + 3 * seen * rows * columns)

    def __call__(self, rows: Tensor, residual: Tensor) -> tuple[Tensor, Tensor | None]:
        """½‖δ‖² and F-SI of adding each sample: rows (samples, k, D), residual (samples, k, columns)."""
        Z = self.origin.run.system.rotate(rows)
        outside = rows @ rows.mT - Z @ Z.mT  # what the span of the training rows does not hold, (samples, k, k)
        inner, outer = self._change(Z, outside, residual)
        own: Tensor = inner.square().sum(dim=(1, 2)) + torch.einsum("bkc,bkl,blc->b", outer, outside, outer)
        return own / 2, self._seen(rows, Z, inner, outer)

    def _change(self, Z: Tensor, outside: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        """δ in coordinates (samples, rank, columns); outside the span in combinations of z, (samples, k, columns)."""
        system = self.origin.run.system
        p = torch.from_numpy(self.filter.poles).to(Z.device)
        weights = torch.from_numpy(np.where(self.filter.is_real, 1, 2) * self.filter.weights).to(Z.device)
        scaled = Z[..., None] / (system.values[:, None] - p)  # (samples, k, rank, poles)
        leverage = torch.einsum("bkrp,blr->bpkl", scaled, Z + 0j) - outside[:, None] / p[:, None, None]
        misfit = residual[:, None] - torch.einsum("bkrp,rc->bpkc", scaled, system.moment + 0j)
        identity = torch.eye(Z.shape[1], dtype=leverage.dtype, device=Z.device)
        y = torch.linalg.solve(identity + leverage, misfit) * weights[:, None, None]
        inner = torch.einsum("bkrp,bpkc->brc", scaled, y).real + self.filter.constant * Z.mT @ residual
        outer = -(y / p[:, None, None]).sum(dim=1).real + self.filter.constant * residual
        return inner + self.shift, outer

    def _seen(self, rows: Tensor, Z: Tensor, inner: Tensor, outer: Tensor) -> Tensor | None:
        """(1/2m) Σ ‖Z_val δ + (J_val zᵀ − Z_val Zᵀ) outer‖²."""
        probe = self.origin.probe
        if probe is None:
            return None
        total = rows.new_zeros(len(rows))
        for part in probe.rows.chunks():
            theirs = probe.rows[part]
            rotated = probe.system.rotate(theirs)
            across = torch.einsum("mqd,bkd->bmqk", theirs, rows) - torch.einsum("mqr,bkr->bmqk", rotated, Z)
            moved = torch.einsum("mqr,brc->bmqc", rotated, inner) + torch.einsum("bmqk,bkc->bmqc", across, outer)
            total += moved.square().sum(dim=(1, 2, 3))
        return total / (2 * probe.samples)
