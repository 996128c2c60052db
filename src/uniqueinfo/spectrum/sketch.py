"""The third form: some directions exactly, all others together, for when neither JᵀJ nor JJᵀ can be decomposed.

With V the directions of a Krylov space that starts from Jᵀr and random mixtures of the rows (see `krylov`), and
P = I − VVᵀ, the Hessian is taken to be

    H ≈ V diag(s) Vᵀ + μ P,        μ = tr(PHPH) / tr(PHP) as the samples see it, never below any sample's own part,

while the rows J_i themselves stay as they are: in the coordinates [J_i V, J_i P] nothing of a row is lost. What is
approximate is the training in the directions outside V, where one curvature μ stands for many. Starting from Jᵀr puts
the training of all samples inside V to many digits, so that only the change by a removal is left to approximate.

Cost: 4·N·D·r operations for r directions in place of 2·N·D² + 10·D³ (primal) or 2·N²·D + 10·N³ (dual).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Self

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.spectrum.eigensystem import FromRows
from uniqueinfo.spectrum.krylov import Passes, RowPasses, Space
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.training import Filter
from uniqueinfo.types import Floats, Index, Indices

BLOCKS = 8
"""Passes over the rows; fewer and wider blocks follow the training of Jᵀr less far."""
_FOLLOWED = 2  # passes for the samples followed: these leave a tenth of the error of the sketch, or less
_ROUNDING = 1e-16  # of a squared length: half of float64's digits
_FARTHEST = 3.0  # φ(0)·μ: up to here the estimated errors were found to hold; there scores are off by a quarter
_FEWEST, _MOST = 20, 100  # samples followed: 20 are the fewest of which the 95 % quantile is known


@dataclass(frozen=True, eq=False)
class Sketched(FromRows):
    """Some directions exactly, and one curvature for all others; made by `of`, or by `grown`.

    >>> rows = Rows(np.random.default_rng(0).normal(size=(50, 1, 40)) * np.logspace(0, -3, 40))
    >>> sketch = Sketched.of(rows, torch.ones(50, 1, 1, dtype=torch.float64), directions=16)
    >>> sketch.rank, bool(sketch.outside.max() < 0.1)  # the coordinates are those of V and of all columns
    (56, True)
    """

    values: Tensor
    moment: Tensor
    basis: Tensor
    """V, (width, directions)."""
    tail: float
    """μ, the one curvature of all other directions."""
    outside: Floats
    """‖J_i P‖², the part of every sample's rows that lies outside the directions kept, (n,)."""
    followed: Indices
    """A random few samples, whose changes `following` gives to many digits."""
    start: Tensor
    """Jᵀr."""
    space: Space
    directions: int
    seed: int
    rows: Rows | None = None

    @classmethod
    def of(cls, rows: Rows, residual: Tensor, directions: int, seed: int = 0) -> Sketched:
        """From rows that are read in this process, and residuals (n, per_sample, columns)."""
        return cls.grown(RowPasses(rows, residual), rows, residual.shape[2], directions, seed)

    @classmethod
    def grown(cls, passes: Passes, rows: Rows, columns: int, directions: int, seed: int = 0) -> Sketched:
        """Grow the space from Jᵀr and random mixtures of the rows, and look at what lies outside it.

        All rows are gone through by `passes`; of `rows` a few are read here.
        """
        width = max(ceil(directions / BLOCKS), columns + 1)
        block = passes.mixtures(width - columns, seed)
        start = block[:, :columns].clone()
        space = Space.empty(block).grown(passes, block, BLOCKS, most=directions)
        del block
        followed = _drawn(rows, directions, seed)
        whole = rows[followed].flatten(0, 1).T
        tails = space.outside(whole)
        outside, largest = passes.outside(space.basis)
        mass = float(tails.square().sum())
        tail = 0.0  # where nothing is left of the rows but rounding
        if mass > _ROUNDING * float(whole.square().sum()):
            tail = max(float((tails * passes.times_hessian(tails)).sum()) / mass, largest)
        values, moment, basis = _seen_in(space, tail, start)
        return cls(
            values=values,
            moment=moment,
            basis=basis,
            tail=tail,
            outside=outside,
            followed=followed,
            start=start,
            space=space,
            directions=directions,
            seed=seed,
            rows=rows,
        )

    @property
    def reach(self) -> float:
        """Up to here the mean leave-one-out error is right to a percent."""
        return 1 / self.tail if self.tail > 0 else inf

    def toward(self, residual: Tensor) -> Sketched:
        """A new sketch: its directions are those in which the residual trains."""
        return Sketched.of(self._rows, residual, self.directions, self.seed)

    def following(self, passes: Passes) -> Sketched:
        """The same sketch with the directions added in which the `followed` samples act: what it lacks, for those."""
        tails = self.space.outside(self._rows[self.followed].flatten(0, 1).T)
        space = self.space.grown(passes, tails, blocks=_FOLLOWED)
        values, moment, basis = _seen_in(space, self.tail, self.start)
        return replace(self, values=values, moment=moment, basis=basis, space=space)

    def check_reached(self, filter: Filter) -> None:
        """Refuse a training that has come far in the directions not kept: what is said about it would be wrong."""
        far = inf if self.is_minimum_norm(filter) else float(filter(np.zeros(1))[0]) * self.tail
        if far <= _FARTHEST:
            return
        raise InputError(
            f"training: it goes {far / _FARTHEST:.3g} times as far as a sketch of "
            f"{self.basis.shape[1]:,} directions can tell about. Keep more directions (sketch=…), stop earlier, "
            'add weight decay, or drop sketch and take an exact form (form="primal").'
        )

    def over(self, index: Index, rows: Rows | None) -> Self:
        """On other rows; without what it was grown from, which is as large again and need not travel."""
        space = Space.empty(self.space.basis)
        return replace(self, rows=rows, outside=self.outside[index], space=space, start=self.start[:0])

    def rotate(self, seen: Tensor) -> Tensor:
        """[J V, J P]."""
        return _split(seen, self.basis)

    def metric_of(self, sums: Sums) -> tuple[Metric, Tensor]:
        """[V, P]ᵀ (J_valᵀ J_val) [V, P] / m."""
        gram, moment = (torch.from_numpy(part).to(self.basis.device) for part in (sums.gram, sums.moment))
        square = self.rotate(self.rotate(gram).T) / sums.samples
        return Metric(square, factor=False), self.rotate(moment.T).T / sums.samples

    def weights(self, coordinates: Tensor) -> Tensor:
        """V times the first coordinates, plus the others."""
        inside = self.basis.shape[1]
        return torch.addmm(coordinates[inside:], self.basis, coordinates[:inside])


def _split(rows: Tensor, basis: Tensor) -> Tensor:
    """[J V, J P]: the part of rows inside the directions of a basis, and the rest."""
    inside = rows @ basis
    return torch.cat([inside, rows - inside @ basis.T], dim=-1)


def _seen_in(space: Space, tail: float, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Eigenvalues, Jᵀr and V with the directions of a space: those of V, and one curvature for all columns."""
    values, basis = space.ritz()
    values = torch.cat([values.clamp(min=0), values.new_full((len(basis),), tail)])
    return values, _split(start.T, basis).T, basis


def _drawn(rows: Rows, directions: int, seed: int) -> Indices:
    """The samples to follow: a random few, whose rows are about as many as the directions kept."""
    count = min(rows.samples, max(_FEWEST, min(_MOST, directions // (2 * rows.per_sample))))
    return np.sort(np.random.default_rng(seed).choice(rows.samples, count, replace=False))
