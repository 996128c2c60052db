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

from math import ceil, inf

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.progress import progress
from uniqueinfo.spectrum.eigensystem import Eigensystem, gram
from uniqueinfo.spectrum.krylov import Space, mixtures, times_hessian
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.training import Filter

_BLOCKS = 8  # passes over the rows; fewer and wider blocks follow the training of Jᵀr less far
_FOLLOWED = 2  # passes for the samples followed: these leave a tenth of the error of the sketch, or less
_ROUNDING = 1e-16  # of a squared length: half of float64's digits
_FARTHEST = 3.0  # φ(0)·μ: up to here the estimated errors were found to hold; there scores are off by a quarter
_FEWEST, _MOST = 20, 100  # samples followed: 20 are the fewest of which the 95 % quantile is known


class Sketched(Eigensystem):
    """Some directions exactly, and one curvature for all others.

    >>> rows = Rows(np.random.default_rng(0).normal(size=(50, 1, 40)) * np.logspace(0, -3, 40))
    >>> sketch = Sketched(rows, torch.ones(50, 1, 1, dtype=torch.float64), directions=16)
    >>> sketch.rank, bool(sketch.outside.max() < 0.1)  # the coordinates are those of V and of all columns
    (56, True)
    """

    identity = 1.0
    outside: NDArray[np.float64]
    """‖J_i P‖², the part of every sample's rows that lies outside the directions kept, (n,)."""
    followed: NDArray[np.intp]
    """A random few samples, whose changes `following` gives to many digits."""
    tail: float
    """μ, the one curvature of all other directions."""

    def __init__(self, rows: Rows, residual: Tensor, directions: int, seed: int = 0) -> None:
        self._rows, self._directions, self._seed = rows, directions, seed
        columns = residual.shape[2]
        width = max(ceil(directions / _BLOCKS), columns + 1)
        self._jr, random = mixtures(rows, residual, width - columns, seed)
        start = torch.cat([self._jr, random], dim=1)
        self._space = Space.empty(rows).grown(rows, start, _BLOCKS, most=directions)
        self.followed = _drawn(rows, directions, seed)
        values, self._basis = self._space.ritz()
        whole = rows[self.followed].flatten(0, 1).T
        self._tails = self._space.outside(whole)
        self.outside, largest = self._outside()
        mass = float(self._tails.square().sum())
        if mass > _ROUNDING * float(whole.square().sum()):
            self._take(values, max(float((self._tails * times_hessian(rows, self._tails)).sum()) / mass, largest))
        else:  # nothing is left of the rows but rounding
            self._take(values, 0.0)

    def toward(self, residual: Tensor) -> Sketched:
        """A new sketch: its directions are those in which the residual trains."""
        return Sketched(self._rows, residual, self._directions, self._seed)

    def following(self) -> Sketched:
        """The same sketch with the directions added in which the `followed` samples act: what it lacks, for those."""
        found = object.__new__(Sketched)
        found._rows, found._jr, found.followed, found.outside = self._rows, self._jr, self.followed, self.outside
        found._space = self._space.grown(self._rows, self._tails, blocks=_FOLLOWED)
        values, found._basis = found._space.ritz()
        found._take(values, self.tail)
        return found

    def check_reached(self, filter: Filter) -> None:
        """Refuse a training that has come far in the directions not kept: what is said about it would be wrong."""
        far = inf if self.is_minimum_norm(filter) else float(filter(np.zeros(1))[0]) * self.tail
        if far <= _FARTHEST:
            return
        raise InputError(
            f"training: it goes {far / _FARTHEST:.3g} times as far as a sketch of "
            f"{self._space.basis.shape[1]:,} directions can tell about. Keep more directions (sketch=…), stop earlier, "
            'add weight decay, or drop sketch and take an exact form (form="primal").'
        )

    def left(self, index: slice | NDArray[np.intp]) -> Tensor:
        """[JV, JP]."""
        return self.rotate(self._rows[index])

    def right(self, left: Tensor) -> Tensor:
        """The same."""
        return left

    def fitted(self, coordinates: Tensor) -> Tensor:
        """J times the weights."""
        weights = self.weights(coordinates)
        return torch.cat([self._rows[part] @ weights for part in self._rows.chunks()])

    def rotate(self, rows: Tensor) -> Tensor:
        """[J_val V, J_val P]."""
        inside = rows @ self._basis
        return torch.cat([inside, rows - inside @ self._basis.T], dim=-1)

    def sums(self, rows: Rows, misfit: Tensor) -> tuple[Tensor, Tensor]:
        """[V, P]ᵀ (J_valᵀ J_val) [V, P]: the sums are taken first, so that the samples are not rotated."""
        square, moment = gram(rows, misfit)
        return self.rotate(self.rotate(square).T), self.rotate(moment.T).T

    def weights(self, coordinates: Tensor) -> Tensor:
        """V times the first coordinates, plus the others."""
        inside = self._basis.shape[1]
        return torch.addmm(coordinates[inside:], self._basis, coordinates[:inside])

    def _take(self, values: Tensor, tail: float) -> None:
        self.tail = tail
        self.reach = 1 / tail if tail > 0 else inf  # up to here the mean leave-one-out error is right to a percent
        self.values = torch.cat([values.clamp(min=0), values.new_full((self._rows.width,), tail)])
        self.moment = self.left_moment = self.rotate(self._jr.T).T

    def _outside(self) -> tuple[NDArray[np.float64], float]:
        """‖J_i P‖² of every sample, and the largest eigenvalue that any sample's rows have there on their own.

        A curvature below that one would turn negative when the sample leaves.
        """
        rows = self._rows
        found = np.empty(rows.samples)
        largest = 0.0
        with progress("Sketch", rows.samples) as advance:
            for part in rows.chunks():
                tails = self._space.outside(rows[part].flatten(0, 1).T).T.reshape(-1, rows.per_sample, rows.width)
                blocks = tails @ tails.transpose(1, 2)
                found[part] = blocks.diagonal(dim1=1, dim2=2).sum(dim=1).cpu().numpy()
                largest = max(largest, float(torch.linalg.eigvalsh(blocks).max()))
                advance(part.stop - part.start)
        return found, largest


def _drawn(rows: Rows, directions: int, seed: int) -> NDArray[np.intp]:
    """The samples to follow: a random few, whose rows are about as many as the directions kept."""
    count = min(rows.samples, max(_FEWEST, min(_MOST, directions // (2 * rows.per_sample))))
    return np.sort(np.random.default_rng(seed).choice(rows.samples, count, replace=False))
