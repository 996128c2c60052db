"""What a new sample would teach: its unique information once it is added to the training data.

With z the rows of the new sample (k × D), ρ its residual, and per pole p of the filter of n + 1 samples the resolvent
G = (H − p)⁻¹ and x = G Jᵀr of the n samples there are,

    (H + zᵀz − p)⁻¹ (Jᵀr + zᵀρ) = x + G zᵀ y,    y = (I + z G zᵀ)⁻¹ (ρ − z x)

so the weights move by Σⱼ cⱼ Gⱼ zᵀ yⱼ + c₀ zᵀρ, and, as the filter is another with one sample more, by
[φ₊(H) − φ(H)] Jᵀr, which all additions share. In coordinates of the eigenbasis G is diagonal; what of z lies outside
the span of the training rows sees G = −1/p, and enters through z zᵀ and J_val zᵀ alone. Where nothing does, as with
many samples of few features, the sums over the validation samples are taken once, as for removals: m · δᵀFδ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.progress import progress
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.dual import Dual
from uniqueinfo.spectrum.probe import Inner, Probe, Target
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.training import Filter
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats

_ROUNDING = 1e-12
"""Of ‖z‖²: what lies outside the span by less is rounding."""


@dataclass(frozen=True, eq=False)
class Added:
    """What each new sample alone would change, added to the training data."""

    weight: Floats
    """½‖w₊ − w‖²."""
    functional: Floats | None
    """(1/2m) Σ_j ‖f_w₊(x_j) − f_w(x_j)‖² over the validation samples; None where there are none."""
    value: Floats | None
    """(1/m) Σ_j ½‖f_w(x_j) − y_j‖² − ½‖f_w₊(x_j) − y_j‖²: what the validation loss falls by; None without targets."""
    own: Floats
    """f_w₊ − f_w of the new sample itself, (samples, outputs)."""


def add_each(run: TrainedSystem, probe: Probe | None, inputs: Probe, targets: Tensor, *, apart: bool = False) -> Added:
    """Add each of the new samples, alone, with targets (samples, per_sample, columns); `probe` is what is looked at.

    `apart`: the new samples are those of the probe, in its order, and each is looked at on the others alone, as a
    training sample is never looked at on itself.

    >>> from uniqueinfo.linearization.linearization import Linearization
    >>> from uniqueinfo.training import Converged
    >>> start = Linearization.from_features([[1.0]], [[2.0]])            # w = 2 · 1/(1 + 1) = 1
    >>> new = start.probe([[1.0]])
    >>> run = start.train(Converged(1.0, reduction="sum"))
    >>> add_each(run, new, new, torch.tensor([[[5.0]]])).weight          # w₊ = (2 + 5)/(2 + 1)
    array([0.88888889])
    """
    filter = filter_with(run, 1)
    shift = run.coordinates_under(filter) - run.coordinates
    new = _New(inputs)
    adding = _Adding(run, probe, fit(filter, run.system.largest + longest(inputs)), shift, apart)
    residual = targets - inputs.initial
    weight, functional, value = np.empty((3, inputs.samples))
    own = np.empty((inputs.samples, inputs.initial[0].numel()))
    with progress("Adding", inputs.samples) as advance:
        for part in slices(inputs.samples, adding.bytes_each):
            change = adding.change(new, part, residual[part])
            weight[part] = change.square().cpu().numpy() / 2
            own[part] = change.own().flatten(1).cpu().numpy()
            if probe is not None:
                squares, pulls = adding.seen(new, change, probe)
                count = probe.samples - apart
                functional[part] = (squares / (2 * count)).cpu().numpy()
                value[part] = (-(pulls + squares / 2) / count).cpu().numpy()
            advance(part.stop - part.start)
    known = probe is not None and probe.targets is not None
    return Added(weight, None if probe is None else functional, value if known else None, own)


def filter_with(run: TrainedSystem, more: int) -> Filter:
    """The filter of training on some more samples; a training that none can be added to is refused."""
    if not run.training.in_closed_form:
        raise InputError(
            "samples are added in closed form under squared error alone, and to no recorded training: score with "
            "loss='mse' and a training algorithm, such as training='auto', for this"
        )
    filter = run.training.filter(run.samples + more)
    if run.system.is_minimum_norm(filter):
        raise InputError("training to the end without weight decay has no filter to add samples to: add a little decay")
    return filter


def longest(inputs: Probe) -> float:
    """The largest ‖z‖² of any input: adding it raises the largest eigenvalue by no more."""
    new = _New(inputs)
    parts = slices(inputs.samples, 8 * inputs.rows.per_sample * inputs.rows.width)
    return max(float(new.own(part).diagonal(dim1=1, dim2=2).sum(dim=1).max()) for part in parts)


def inner_of(inputs: Probe) -> Inner:
    """Inner products of samples whose rows are not known."""
    if inputs.inner is None:
        raise InputError(
            "new samples are added through their Jacobian rows, and here only kernel values are known: look at "
            "them with the network (its linearization's probe), or score with a projection"
        )
    return inputs.inner()


class _New:
    """New samples through their rows z, or, where only kernels are known, through inner products of these."""

    def __init__(self, inputs: Probe) -> None:
        self._inputs = inputs
        system = inputs.system
        by_kernels = isinstance(system, Dual) and system.rows is None
        self._inner = inner_of(inputs) if by_kernels else None

    def rotated(self, part: slice) -> Tensor:
        """Z of some of the samples."""
        return self._inputs.system.rotate(self._inputs.seen[part])

    def own(self, part: slice) -> Tensor:
        """z zᵀ, (samples, k, k)."""
        if self._inner is not None:
            return self._inner.own[part]
        rows = self._inputs.rows[part]
        return rows @ rows.mT

    def across(self, numbers: Tensor, probe: Probe, others: slice) -> Tensor:
        """J_val zᵀ of these samples with some validation samples, (samples, m, q, k)."""
        if self._inner is not None:
            assert self._inner.across is not None
            return self._inner.across[others][:, :, numbers].permute(2, 0, 1, 3)
        return torch.einsum("mqd,bkd->bmqk", probe.rows[others], self._inputs.rows[numbers.cpu().numpy()])


@dataclass(frozen=True, eq=False)
class _Change:
    """What adding each of some samples does to the weights: δ within the span of the training rows, and outside it."""

    numbers: Tensor  # which samples these are
    Z: Tensor
    outside: Tensor  # z zᵀ − Z Zᵀ: what the span of the training rows does not hold, (samples, k, k)
    inner: Tensor  # in coordinates, (samples, rank, columns)
    outer: Tensor  # in combinations of z, (samples, k, columns)

    def square(self) -> Tensor:
        """‖δ‖²."""
        found: Tensor = self.inner.square().sum(dim=(1, 2))
        return found + torch.einsum("bkc,bkl,blc->b", self.outer, self.outside, self.outer)

    def own(self) -> Tensor:
        """z δ, (samples, k, columns)."""
        return self.Z @ self.inner + self.outside @ self.outer

    def leaving(self) -> Tensor:
        """Which of the samples do not lie in the span, by more than rounding."""
        outside, inside = self.outside.diagonal(dim1=1, dim2=2).sum(dim=1), self.Z.square().sum(dim=(1, 2))
        return outside > _ROUNDING * (inside + outside)

    def take(self, chosen: Tensor | slice) -> _Change:
        """Of some of the samples."""
        return _Change(
            self.numbers[chosen], self.Z[chosen], self.outside[chosen], self.inner[chosen], self.outer[chosen]
        )


@dataclass(frozen=True, eq=False)
class _Adding:
    """All that additions have in common."""

    run: TrainedSystem
    probe: Probe | None
    filter: Rational
    shift: Tensor  # [φ₊(s) − φ(s)] ∘ Zᵀr, (rank, columns)
    apart: bool

    @property
    def bytes_each(self) -> int:
        """Memory that one addition takes."""
        return 16 * self.run.residual.shape[1] * self.run.system.rank * (len(self.filter.poles) + 2)

    def change(self, new: _New, part: slice, residual: Tensor) -> _Change:
        """Of adding each of some samples, with residual (samples, k, columns)."""
        system, Z = self.run.system, new.rotated(part)
        outside = new.own(part) - Z @ Z.mT
        p = torch.from_numpy(self.filter.poles).to(Z.device)
        weights = torch.from_numpy(np.where(self.filter.is_real, 1, 2) * self.filter.weights).to(Z.device)
        scaled = Z[..., None] / (system.values[:, None] - p)  # (samples, k, rank, poles)
        leverage = torch.einsum("bkrp,blr->bpkl", scaled, Z + 0j) - outside[:, None] / p[:, None, None]
        misfit = residual[:, None] - torch.einsum("bkrp,rc->bpkc", scaled, system.moment + 0j)
        identity = torch.eye(Z.shape[1], dtype=leverage.dtype, device=Z.device)
        y = torch.linalg.solve(identity + leverage, misfit) * weights[:, None, None]
        inner = torch.einsum("bkrp,bpkc->brc", scaled, y).real + self.filter.constant * Z.mT @ residual
        outer = -(y / p[:, None, None]).sum(dim=1).real + self.filter.constant * residual
        numbers = torch.arange(part.start, part.stop, device=Z.device)
        return _Change(numbers, Z, outside, inner + self.shift, outer)

    def seen(self, new: _New, change: _Change, probe: Probe) -> tuple[Tensor, Tensor]:
        """Σ_j ‖f_w₊ − f_w‖² and Σ_j ⟨f_w₊ − f_w, f_w − y⟩ over the validation samples, of each addition."""
        leaving = change.leaving()
        squares, pulls = change.Z.new_empty(2, len(leaving))
        if not leaving.all():
            squares[~leaving], pulls[~leaving] = self._summed(change.take(~leaving), probe)
        some = leaving.nonzero()[:, 0]
        for part in slices(len(some), self._bytes_seen(probe)):
            squares[some[part]], pulls[some[part]] = self._one_by_one(new, change.take(some[part]), probe)
        return squares, pulls

    def _summed(self, change: _Change, probe: Probe) -> tuple[Tensor, Tensor]:
        """Within the span, from sums over all validation samples; what is a sample's own comes off again."""
        target, delta = self._target, change.inner.mT
        squares = probe.samples * target.fisher.of(delta).sum(dim=1)
        pulls = torch.zeros_like(squares)
        if target.gradient is not None:
            pulls = probe.samples * torch.einsum("bcr,cr->b", delta, target.gradient)
        if self.apart:
            own = change.own()
            squares = squares - own.square().sum(dim=(1, 2))
            if probe.targets is not None:
                start, wanted = probe.initial[change.numbers], probe.targets[change.numbers]
                wrong = start + change.Z @ self.run.coordinates - wanted
                pulls = pulls - (own * wrong).sum(dim=(1, 2))
        return squares, pulls

    def _one_by_one(self, new: _New, change: _Change, probe: Probe) -> tuple[Tensor, Tensor]:
        """From how every validation sample moves: Z_val δ + (J_val zᵀ − Z_val Zᵀ) outer."""
        Z, numbers = change.Z, change.numbers
        squares, pulls = Z.new_zeros(2, len(Z))
        for others in probe.rows.chunks():
            rotated = probe.system.rotate(probe.seen[others])
            across = new.across(numbers, probe, others) - torch.einsum("mqr,bkr->bmqk", rotated, Z)
            moved = torch.einsum("mqr,brc->bmqc", rotated, change.inner)
            moved += torch.einsum("bmqk,bkc->bmqc", across, change.outer)
            if self.apart:
                moved[numbers[:, None] == torch.arange(others.start, others.stop, device=Z.device)] = 0.0
            squares += moved.square().sum(dim=(1, 2, 3))
            if probe.targets is not None:
                wrong = probe.initial[others] + rotated @ self.run.coordinates - probe.targets[others]
                pulls += torch.einsum("bmqc,mqc->b", moved, wrong)
        return squares, pulls

    def _bytes_seen(self, probe: Probe) -> int:
        """Memory that the movements of the validation samples by one addition take."""
        _, rows, columns = self.run.residual.shape
        return 48 * rows * probe.samples * rows * columns

    @cached_property
    def _target(self) -> Target:
        assert self.probe is not None
        return self.probe.target(self.run.coordinates)
