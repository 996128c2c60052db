"""The form for rows that are badly conditioned: J = V S Uᵀ from the rows themselves, and no product of them.

JᵀJ and JJᵀ hold squares of the singular values, so that of a direction 1e8 times smaller than the largest nothing is
left in double precision. The singular values of J itself keep half of the digits there, and by Jacobi's method also
where rows or columns are of very different sizes. It takes a few times as long, and all rows in memory: for training
run to the end, which alone divides by small eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from scipy.linalg import lapack
from torch import Tensor

from uniqueinfo.spectrum.eigensystem import EPS, Eigensystem, FromRows
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.training import ConvergedFilter, Filter, Training
from uniqueinfo.types import Floats, Index

_ILL = 1e6  # largest over smallest eigenvalue from which on the rows are decomposed: ten digits are left below
LEFT_OVER = 1e-6
"""Of a leverage below 1: where there is less, the difference has lost too many digits."""
_CLEAR, _FEW = 0.5, 16  # a leverage that is harmless; eigenvalues by which it is bounded
_AFFORDABLE = 2e10  # multiplications of the samples that are trained without, one by one: half a minute
_LARGEST = 2**30  # bytes of rows that are decomposed
_SIDE = 2_000  # directions, more than which take minutes
_JACOBI = 1_200  # directions up to which Jacobi's method takes seconds
_ALL, _SOME = 0, 2  # LAPACK's dgejsv: all singular vectors wanted; rows and columns of any size


@dataclass(frozen=True, eq=False)
class Orthogonal(FromRows):
    """Singular values and vectors of the rows.

    >>> rows = Rows(np.array([[[1.0, 0.0]], [[0.0, 1e-9]], [[1.0, 1e-9]]]))
    >>> system = Orthogonal.of(rows, torch.ones(3, 1, 1, dtype=torch.float64))
    >>> bool(abs(system.values.min() / 1.5e-18 - 1) < 1e-6)  # of JᵀJ nothing would be left
    True
    """

    values: Tensor
    moment: Tensor
    basis: Tensor
    """U, (width, rank)."""
    vectors: Tensor
    """V of the samples that are looked at, (samples, per_sample, rank)."""
    dual_moment: Tensor
    """Vᵀr."""
    points: Tensor
    """Z = JU of all training samples, each row as exact as the row it comes from, (samples, per_sample, rank)."""
    residual: Tensor
    """Of all training samples, (samples, per_sample, columns)."""
    identity: float = 1.0
    """0 where V is complete, and nothing need be taken from 1."""
    rows: Rows | None = None

    @classmethod
    def of(cls, rows: Rows, residual: Tensor) -> Orthogonal:
        """From all rows, which must fit in memory, and residuals (n, per_sample, columns)."""
        flat = rows[:].flatten(0, 1).cpu().numpy()
        left, singular, right = (torch.from_numpy(part).to(rows.device) for part in _decomposed(flat))
        wanted = residual.flatten(0, 1)
        seen = left.T @ wanted
        complete = left.shape[0] == left.shape[1]
        return cls(
            values=singular.square(),
            moment=singular[:, None] * seen,
            basis=right,
            vectors=left.reshape(rows.samples, rows.per_sample, -1),
            dual_moment=seen,
            points=(rows[:].flatten(0, 1) @ right).reshape(rows.samples, rows.per_sample, -1),
            residual=residual,
            identity=0.0 if complete else 1.0,
            rows=rows,
        )

    @property
    def left_moment(self) -> Tensor:
        """Eᵀr, of V or of Z."""
        return self.moment if self.identity else self.dual_moment

    @property
    def negligible(self) -> float:
        """Singular values below rounding, squared."""
        return (4 * EPS) ** 2 * max(self.basis.shape[0], self.points.shape[0]) * self.largest

    @property
    def held_alone(self) -> float:
        """Rounding of a sum of squares that is 1."""
        return 16 * EPS * float(np.sqrt(self.rank))

    def toward(self, residual: Tensor) -> Orthogonal:
        """Decomposed again: it is for problems that are small."""
        return Orthogonal.of(self._rows, residual)

    def over(self, index: Index, rows: Rows | None) -> Self:
        """The singular vectors' entries of these samples."""
        return replace(self, vectors=self.vectors[index], rows=rows)

    def left(self, index: Index) -> Tensor:
        """V where it is complete, else Z."""
        found = self.vectors[index]
        return found * self._roots if self.identity else found

    def right(self, left: Tensor) -> Tensor:
        """Z."""
        return left if self.identity else left * self._roots

    def fitted(self, coordinates: Tensor) -> Tensor:
        """V S times the coordinates."""
        return self.vectors @ (self._roots[:, None] * coordinates)

    def rotate(self, seen: Tensor) -> Tensor:
        """J U."""
        return torch.matmul(seen, self.basis)

    def metric(self, seen: Rows, misfit: Tensor) -> tuple[Metric, Tensor]:
        """Through the rows themselves, however many: their squares would lose what was gained."""
        rotated = torch.cat([self.rotate(seen[part]).flatten(0, 1) for part in seen.chunks()])
        return Metric(rotated / seen.samples**0.5, factor=True), rotated.T @ misfit.flatten(0, 1) / seen.samples

    def metric_of(self, sums: Sums) -> tuple[Metric, Tensor]:
        """Not from sums."""
        raise NotImplementedError

    def weights(self, coordinates: Tensor) -> Tensor:
        """U times the coordinates."""
        return torch.matmul(self.basis, coordinates)

    def affordable(self, removals: int) -> bool:
        """Whether so many can be trained without, one by one; others are left to the closed form."""
        return removals * self.points.numel() * self.rank <= _AFFORDABLE

    def without(self, members: Tensor, filter: Filter) -> Tensor:
        """Coordinates after training on all samples but these, from the rest's own singular values, (rank, columns)."""
        kept = torch.ones(len(self.points), dtype=torch.bool)
        kept[members] = False
        rows, wanted = self.points[kept].flatten(0, 1), self.residual[kept].flatten(0, 1)
        left, singular, right = (torch.from_numpy(part) for part in _decomposed(rows.cpu().numpy()))
        noise = 4 * max(rows.shape) ** 0.5 * EPS * float(singular.max())
        scaled = torch.where(singular > noise, singular, 0.0)
        down = torch.where(scaled > 0, scaled / (scaled.square() + filter.decay), 0.0)
        return (right @ (down[:, None] * (left.T @ wanted.cpu()))).to(self.values.device)

    @property
    def _roots(self) -> Tensor:
        return self.values.sqrt()


def affordable(rows: Rows) -> bool:
    """Whether the rows themselves can be decomposed."""
    count, width = rows.samples * rows.per_sample, rows.width
    return 8 * count * width <= _LARGEST and min(count, width) <= _SIDE


def suited(
    system: Eigensystem, training: Training, samples: int, rows: Rows | None, residual: Callable[[], Tensor]
) -> tuple[Eigensystem, float]:
    """The system that carries a training: itself, or one made of the rows where too few digits of it are left.

    With it what `least_left_over` found, 1 where that was not asked. The `residual` of all samples and outputs, which
    may be larger than the rows, is asked for only where it is needed.
    """
    filter = training.filter(samples) if training.in_closed_form else None
    if rows is None or not isinstance(filter, ConvergedFilter) or not affordable(rows):
        return system, 1.0
    rest = least_left_over(system, rows, filter)
    if conditioning(system, training, samples) / rest < _ILL:
        return system, rest
    return Orthogonal.of(rows, residual()), rest


def left_over(system: Eigensystem, rows: Tensor, filter: Filter) -> Floats:
    """1 minus the largest leverage of each block of rows Z (blocks, rows, rank): what the rest has to say there."""
    identity = torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device)
    found = torch.linalg.eigvalsh(identity - (rows * _down(system, filter)) @ rows.transpose(1, 2))
    least: Floats = found.min(dim=1).values.cpu().numpy()
    return least


def least_left_over(system: Eigensystem, rows: Rows, filter: Filter) -> float:
    """Of all samples: where one all but decides a direction, what is left without it is as much worse conditioned.

    A leverage Σ zⱼ²/sⱼ is at most that of the smallest eigenvalues, if any are looked at, and what is left of ‖x‖² over
    the next one. Samples whose bound is above a half are rotated; where there are none, this is a bound from below.
    """
    if not isinstance(system, Primal):
        return 1.0
    down, smallest = _down(system, filter).sort(descending=True)
    bounds = [
        (system.basis[:, smallest[:few]], down[:few] - down[few], down[few]) for few in (0, _FEW) if few < len(down)
    ]
    least = 1.0
    for part in rows.chunks():
        found = rows[part]
        for basis, above, next_one in bounds:
            length = torch.linalg.vector_norm(found, dim=(1, 2))
            bound = next_one * length.square() + ((found @ basis).square() @ above).sum(dim=1)
            unsure = bound > _CLEAR
            least = min(least, 1 - float(bound.masked_fill(unsure, 0.0).max()))
            found = found[unsure]
            if not len(found):
                break
        else:
            least = min(least, float(left_over(system, system.rotate(found), filter).min()))
    return max(least, EPS)


def _down(system: Eigensystem, filter: Filter) -> Tensor:
    """What training to the end multiplies squares with, by eigenvalue."""
    return 1 / (system.values.clamp(min=0) + max(filter.decay, system.negligible))


def conditioning(system: Eigensystem, training: Training, samples: int) -> float:
    """The largest eigenvalue over the smallest that training to the end divides by; 1 for trainings that do not.

    Infinite where some are lost in rounding, as then nobody knows how small they are.
    """
    filter = training.filter(samples)
    if not isinstance(filter, ConvergedFilter) or not system.rank:
        return 1.0
    smallest = float(system.values.clamp(min=0).min()) + filter.decay
    return system.largest / smallest if smallest > system.negligible else float("inf")


def _decomposed(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """V (rows, rank), s and U (columns, rank) of a matrix, scaled so that nothing overflows."""
    scale = 2.0 ** -np.round(np.log2(np.abs(rows).max(initial=0.0) or 1.0))
    tall = rows.shape[0] >= rows.shape[1]
    matrix = np.asfortranarray((rows if tall else rows.T) * scale)
    if min(rows.shape) <= _JACOBI:
        singular, left, right, work, _, info = lapack.dgejsv(
            matrix, joba=_SOME, jobu=_ALL, jobv=_ALL, jobr=0, jobt=0, jobp=0
        )
        singular = singular * (work[0] / work[1])
        if info == 0:
            return _sided(left, singular / scale, right, tall=tall)
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    return _sided(left, singular / scale, right.T, tall=tall)


def _sided(left: Floats, singular: Floats, right: Floats, *, tall: bool) -> tuple[Floats, Floats, Floats]:
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    return (left, singular, right) if tall else (right, singular, left)
