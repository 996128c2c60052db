"""What samples would teach together, once they join the training data, while their labels are not known yet.

Labels are thought of as drawn one by one from what the network predicts, so that the residual ρᵢ of a sample has a mean
ρ̄ᵢ and a covariance Cᵢ = LᵢLᵢᵀ. Under squared error the weights are linear in all residuals: after a set has joined,
w₊ = φ₊(A) (Jᵀr + Σ zᵢᵀρᵢ) with A = H + Σ zᵢᵀzᵢ. So the information that the set is expected to add is, exactly,

    ½ ‖φ₊(A) (Jᵀr + Σ zᵢᵀρ̄ᵢ) − w‖²_F  +  ½ Σ ‖φ₊(A) zᵢᵀLᵢ‖²_F

though of k classes there are as many labellings as k to the size of the set. All it takes are columns u, Jᵀr + Σ zᵢᵀρ̄ᵢ
and every zᵢᵀLᵢ, that go through one filter. What one more sample z does to each is what an addition does to Jᵀr: over
the poles p of the filter, with G = (A − p)⁻¹,

    (A + zᵀz − p)⁻¹ (u + zᵀρ) = G u + G zᵀ y,    y = (I + z G zᵀ)⁻¹ (ρ − z G u)

where ρ is ρ̄ for the first column and 0 for those of earlier samples; its own column has u = 0 and ρ = L.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.removal.additions import inner_of
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.dual import Dual, products
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training import Filter
from uniqueinfo.training.rational import Rational
from uniqueinfo.types import Indices

_ROUNDING = 1e-12
"""Of the longest row, squared: what lies outside the span of the training rows by less is rounding."""
MOST_COORDINATES = 8_000
"""A matrix of as many rows and columns is decomposed for every sample that joins."""
_MOST_BYTES = 2**32
"""Of the rows of all samples that may join."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is thought of the labels of samples: residuals with a mean and a covariance, independent of each other."""

    mean: Tensor
    """ρ̄, (samples, per_sample, columns)."""
    root: Tensor
    """L, (samples, per_sample, …)."""

    @classmethod
    def of(cls, mean: Tensor, covariance: Tensor) -> Drawn:
        """From the covariance of all outputs, (samples, outputs, outputs).

        Outputs that share their rows move alike, so that of their covariance only the trace counts.

        >>> Drawn.of(torch.zeros(1, 1, 2), torch.tensor([[[1.0, 0.5], [0.5, 3.0]]])).root
        tensor([[[2.]]])
        """
        if mean.shape[1] == 1:
            return cls(mean, covariance.diagonal(dim1=1, dim2=2).sum(dim=1).sqrt()[:, None, None])
        values, vectors = torch.linalg.eigh(covariance)
        return cls(mean, vectors * values.clamp(min=0).sqrt()[:, None])


@dataclass(frozen=True, eq=False)
class Joining:
    """A training that samples may join, in the eigenbasis of the rows it has: those it began with, those that joined.

    >>> from uniqueinfo.linearization.linearization import Linearization
    >>> from uniqueinfo.training import Converged
    >>> start = Linearization.from_features([[1.0]], [[2.0]])            # w = 2 · 1/(1 + 1) = 1
    >>> run = start.train(Converged(1.0, reduction="sum"))
    >>> joining = Joining.of(run, None, start.probe([[1.0], [1.0]]))
    >>> known = Drawn(torch.tensor([[[5.0]], [[4.0]]]).double(), torch.zeros(2, 1, 1).double())
    >>> joining.joined(np.array([0, 1]), known).information(run.training.filter(3))    # ½ ((2 + 5 + 4)/4 − 1)²
    1.53125
    """

    values: Tensor
    """Eigenvalues of A."""
    Z: Tensor
    """Rows of all samples that may join, (samples, per_sample, coordinates)."""
    moments: Tensor
    """The columns u, (coordinates, columns): first those of the mean, then those of the labels' spread."""
    weights: Tensor
    """w without any of them, (coordinates, columns of the mean)."""
    looks: Tensor
    """X with F = XᵀX: what is looked at, (…, coordinates)."""

    @classmethod
    def of(cls, run: TrainedSystem, probe: Probe | None, inputs: Probe) -> Joining:
        """Nobody has joined yet; `probe` is what is looked at, the weights themselves where there is none."""
        system = run.system
        if isinstance(system, Sketched):
            raise InputError("a sketch keeps only some directions, and new samples may need others: leave sketch= out")
        _check_size(inputs, system.rank)
        Z = system.rotate(inputs.seen[:])
        outside, sight = _outside(run, probe, inputs, Z) if isinstance(system, Dual) else (None, None)
        more = 0 if outside is None else outside.shape[2]
        if outside is not None:
            Z = torch.cat([Z, outside], dim=2)
        looks = torch.eye(system.rank + more, dtype=Z.dtype, device=Z.device)
        if probe is not None:
            looks = _looks(probe, sight)
        return cls(_longer(system.values, more), Z, _longer(system.moment, more), _longer(run.coordinates, more), looks)

    def largest(self, count: int) -> float:
        """What the largest eigenvalue cannot exceed once this many have joined: theirs add up to no more than ‖z‖²."""
        return float(self.values.max() + self.Z.square().sum(dim=(1, 2)).topk(count).values.sum())

    def ending(self, run: TrainedSystem) -> Joining:
        """The same, where training without any of them ends elsewhere: by another algorithm."""
        return replace(self, weights=_longer(run.coordinates, len(self.values) - run.system.rank))

    def joined(self, members: Indices, drawn: Drawn) -> Joining:
        """The same after some samples have joined together."""
        at = torch.from_numpy(members).to(self.Z.device)
        rows, spread = self.Z[at].flatten(0, 1), torch.einsum("skr,skq->rsq", self.Z[at], drawn.root[at]).flatten(1)
        columns = self.weights.shape[1]
        mean = self.moments[:, :columns] + rows.T @ drawn.mean[at].flatten(0, 1)
        moments = torch.cat([mean, self.moments[:, columns:], spread], dim=1)
        values, basis = eigh(torch.diag(self.values) + rows.T @ rows)
        return Joining(
            values.clamp(min=0), self.Z @ basis, basis.T @ moments, basis.T @ self.weights, self.looks @ basis
        )

    def among(self, members: Indices) -> Joining:
        """The same, where only some of the samples may join."""
        return replace(self, Z=self.Z[torch.from_numpy(members).to(self.Z.device)])

    def information(self, filter: Filter) -> float:
        """Expected of those that joined."""
        return float((self.looks @ self._moved(filter)).square().sum() / 2)

    def with_each(self, filter: Filter, poles: Rational, drawn: Drawn) -> Tensor:
        """Expected of those that joined and each one more, (samples,); `poles` are those of the filter."""
        before = self.looks @ self._moved(filter)
        own = drawn.root.shape[2]
        before = torch.cat([before, before.new_zeros(len(before), own)], dim=1)
        each = 16 * self.Z.shape[1] * (2 * len(poles.poles) + 1) * (self.Z.shape[2] + before.numel() // self.Z.shape[1])
        found = [self._one_more(part, poles, drawn, before) for part in slices(len(self.Z), each)]
        return torch.cat(found)

    def _one_more(self, part: slice, poles: Rational, drawn: Drawn, before: Tensor) -> Tensor:
        Z, given = self.Z[part], drawn.mean[part]
        earlier = given.new_zeros(*given.shape[:2], self.moments.shape[1] - given.shape[2])
        given = torch.cat([given, earlier, drawn.root[part]], dim=2)  # ρ of every column, the sample's own last
        real = torch.from_numpy(poles.is_real).to(Z.device)
        kind = Z.dtype if bool(real.all()) else torch.complex128
        p = torch.from_numpy(poles.poles if kind.is_complex else poles.poles.real).to(Z.device)
        c = np.where(poles.is_real, 1, 2) * poles.weights
        scaled = Z[:, None] / (self.values - p[:, None, None])  # z G, (samples, poles, per_sample, coordinates)
        pulled = scaled @ self.moments.to(kind)
        pulled = torch.cat([pulled, pulled.new_zeros(*pulled.shape[:3], drawn.root.shape[2])], dim=3)
        leverage = torch.eye(Z.shape[1], dtype=kind, device=Z.device) + scaled @ Z[:, None].mT.to(kind)
        y = torch.linalg.solve(leverage, given[:, None].to(kind) - pulled)
        y = y * torch.from_numpy(c if kind.is_complex else c.real).to(Z.device)[:, None, None]
        ways, shares = [scaled.real.flatten(1, 2)], [y.real.flatten(1, 2)]
        if kind.is_complex:
            ways.append(scaled.imag[:, ~real].flatten(1, 2))
            shares.append(-y.imag[:, ~real].flatten(1, 2))
        if poles.constant:
            ways.append(Z)
            shares.append(poles.constant * given)
        seen = torch.cat(ways, dim=1) @ self.looks.T
        return (before + seen.mT @ torch.cat(shares, dim=1)).square().sum(dim=(1, 2)) / 2

    def _moved(self, filter: Filter) -> Tensor:
        """φ₊(A) u − w of the mean, and φ₊(A) u of the spread, (coordinates, columns)."""
        found = torch.from_numpy(filter(self.values.cpu().numpy())).to(self.values.device)[:, None] * self.moments
        columns = self.weights.shape[1]
        return torch.cat([found[:, :columns] - self.weights, found[:, columns:]], dim=1)


def _outside(run: TrainedSystem, probe: Probe | None, inputs: Probe, Z: Tensor) -> tuple[Tensor, Tensor | None]:
    """What the span of the training rows does not hold: of the samples, and of what is looked at, in a basis of it."""
    assert isinstance(run.system, Dual)
    flat, across = Z.flatten(0, 1), None
    if run.system.rows is None:
        inner = inner_of(inputs)
        gram = inner.among.flatten(2).flatten(0, 1)
        if probe is not None:
            assert inner.across is not None
            across = inner.across.flatten(2).flatten(0, 1)
    else:
        gram = products(inputs.rows, inputs.rows)
        across = None if probe is None else products(probe.rows, inputs.rows)
    values, basis = eigh(gram - flat @ flat.T)
    kept = values > _ROUNDING * len(values) * gram.diagonal().max()
    basis, roots = basis[:, kept], values[kept].sqrt()
    found = (basis * roots).reshape(*Z.shape[:2], -1)
    if probe is None or across is None:
        return found, None
    held = torch.cat([probe.system.rotate(probe.seen[part]).flatten(0, 1) for part in probe.seen.chunks()])
    return found, (across - held @ flat.T) @ (basis / roots)


def _looks(probe: Probe, outside: Tensor | None) -> Tensor:
    """X with XᵀX = J_valᵀJ_val / m, in no more rows than it has columns."""
    found: Tensor | None = None
    for part in probe.seen.chunks():
        rows = probe.system.rotate(probe.seen[part]).flatten(0, 1)
        if outside is not None:
            at = slice(part.start * probe.rows.per_sample, part.stop * probe.rows.per_sample)
            rows = torch.cat([rows, outside[at]], dim=1)
        found = rows if found is None else torch.cat([found, rows])
        if len(found) > found.shape[1]:
            found = torch.linalg.qr(found, mode="r").R
    assert found is not None
    looks: Tensor = found / probe.samples**0.5
    return looks


def _check_size(inputs: Probe, rank: int) -> None:
    """Refuse more than can be held and decomposed."""
    rows = inputs.samples * inputs.rows.per_sample
    coordinates = rank + rows if isinstance(inputs.system, Dual) else rank
    if isinstance(inputs.system, Dual) and inputs.system.rows is not None:
        coordinates = min(coordinates, inputs.rows.width)
    if coordinates > MOST_COORDINATES or 8 * rows * coordinates > _MOST_BYTES:
        raise InputError(
            f"{inputs.samples:,} samples that may join need {coordinates:,} coordinates for each of their {rows:,} "
            f"rows (at most {MOST_COORDINATES:,}, and {_MOST_BYTES // 2**30} GiB in all): hand over fewer at a time, "
            "such as a random part, or score with a projection of fewer columns"
        )


def _longer(values: Tensor, more: int) -> Tensor:
    """With zeros in the coordinates that the training rows do not reach."""
    return torch.cat([values, values.new_zeros(more, *values.shape[1:])])
