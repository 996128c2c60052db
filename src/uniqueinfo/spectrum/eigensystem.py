"""The one eigendecomposition behind everything: its face, which the dual, primal and sketched forms share.

With J = V S Uᵀ, the dual form decomposes Θ = JJᵀ = V S² Vᵀ (as many rows as the data has) and the primal form
H = JᵀJ = U S² Uᵀ (as many as there are columns). Both speak of weights in the coordinates Uᵀw, in which the Hessian
and every resolvent are diagonal, and of a sample through its rows Z = JU = VS.

Outputs that share their features (a linear head: J = X ⊗ I) need only the rows of X: the residual then has several
columns for each row in place of several rows, and nothing else changes.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Self

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.progress import expecting
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.training import ConvergedFilter, Filter
from uniqueinfo.types import Index

EPS = float(np.finfo(np.float64).eps)
_CORNER = 400  # rows whose eigenvalues are timed to tell how long all will take


class Eigensystem(ABC):
    """Eigenvalues, the training rows in the eigenbasis, and Jᵀr there: a frozen value."""

    values: Tensor
    """Eigenvalues of JᵀJ, (rank,); rounding below zero is cut off."""
    moment: Tensor
    """Zᵀr, (rank, columns)."""
    rows: Rows | None
    """J of the training samples; None where only the kernel is known."""
    identity: float
    """A removal solves with identity·I ± E diag(1/(s − p)) Eᵀ of its `left` rows E: dual 0 and +, primal 1 and −."""

    @property
    def rank(self) -> int:
        """The number of coordinates (not all eigenvalues need be positive)."""
        return len(self.values)

    @property
    def largest(self) -> float:
        """The largest eigenvalue."""
        return float(self.values.max()) if self.rank else 0.0

    @property
    def negligible(self) -> float:
        """The size below which an eigenvalue is rounding error."""
        return self.rank * EPS * self.largest

    @property
    def held_alone(self) -> float:
        """A leverage closer to 1 than this is 1, and its sample holds a direction: half of float64's digits."""
        return 1.5e-8

    @property
    def reach(self) -> float:
        """The longest training (its filter's horizon) that can be told about: a sketch knows only its first part."""
        return math.inf

    @property
    def left_moment(self) -> Tensor:
        """What `left` rows are multiplied with to give the left side's moments: Eᵀr, (rank, columns)."""
        return self.moment

    def is_minimum_norm(self, filter: Filter) -> bool:
        """Whether a filter is an inverse with no decay, or with one that rounding swallows."""
        return isinstance(filter, ConvergedFilter) and filter.decay <= self.negligible

    def check_reached(self, filter: Filter) -> None:  # noqa: B027
        """Refuse a training that the system cannot tell about; a whole one can tell about all."""

    def apply(self, filter: Filter, values: Tensor | None = None) -> Tensor:
        """φ of the eigenvalues (or of those of a part of the data); an inverse without decay skips rounding errors."""
        z = (self.values if values is None else values).clamp(min=0).cpu().numpy()
        if self.is_minimum_norm(filter):
            filter, z = ConvergedFilter(0.0), np.where(z > self.negligible, z, 0.0)
        return torch.from_numpy(filter(z)).to(self.values.device)

    @abstractmethod
    def toward(self, residual: Tensor) -> Self:
        """The same rows with another residual (n, per_sample, columns): nothing is decomposed again."""

    @abstractmethod
    def over(self, index: Index, rows: Rows | None) -> Self:
        """The same system, whose `left` and `fitted` count only these samples; `rows` are theirs."""

    @abstractmethod
    def left(self, index: Index) -> Tensor:
        """The rows E that removals solve with: V for dual, Z for primal, (samples, per_sample, rank)."""

    @abstractmethod
    def right(self, left: Tensor) -> Tensor:
        """The rows Z that belong to rows E."""

    @abstractmethod
    def fitted(self, coordinates: Tensor) -> Tensor:
        """What weights of these coordinates (rank, columns) add to the training outputs, (n, per_sample, columns)."""

    def seen(self, rows: Rows) -> Rows:
        """Rows of other samples as this form looks at them: `rotate`, `coefficients` and `metric` take these."""
        return rows

    @abstractmethod
    def rotate(self, seen: Tensor) -> Tensor:
        """Rows of other samples → Z."""

    @abstractmethod
    def coefficients(self, coordinates: Tensor) -> Tensor:
        """What `seen` rows are multiplied with to give Z times the coordinates (rank, columns)."""

    @abstractmethod
    def metric(self, seen: Rows, misfit: Tensor) -> tuple[Metric, Tensor]:
        """ZᵀZ / m of m other samples as a quadratic form, and Zᵀ(their misfit) / m, (rank, columns)."""

    @abstractmethod
    def weights(self, coordinates: Tensor) -> Tensor:
        """Coordinates (rank, columns) → weights (width, columns)."""


class FromRows(Eigensystem):
    """What the forms share that look at samples through their rows: primal and sketched."""

    identity = 1.0

    @property
    def _rows(self) -> Rows:
        assert self.rows is not None, "this system was sent without rows: say over which samples it is to look"
        return self.rows

    def left(self, index: Index) -> Tensor:
        """Z itself."""
        return self.rotate(self._rows[index])

    def right(self, left: Tensor) -> Tensor:
        """The same."""
        return left

    def fitted(self, coordinates: Tensor) -> Tensor:
        """J times the weights: the samples are not rotated."""
        weights, rows = self.weights(coordinates), self._rows
        found = weights.new_empty(rows.samples, rows.per_sample, weights.shape[1])
        for part in rows.chunks():
            found[part] = rows[part] @ weights
        return found

    def coefficients(self, coordinates: Tensor) -> Tensor:
        """The weights."""
        return self.weights(coordinates)

    def metric(self, seen: Rows, misfit: Tensor) -> tuple[Metric, Tensor]:
        """Through few rows themselves; of many the sums are taken first, so that the samples are not rotated."""
        if seen.samples * seen.per_sample < self.rank:
            parts = seen.chunks(8 * seen.per_sample * max(seen.width, self.rank))
            rotated = torch.cat([self.rotate(seen[part]).flatten(0, 1) for part in parts])
            return Metric(rotated / seen.samples**0.5, factor=True), rotated.T @ misfit.flatten(0, 1) / seen.samples
        return self.metric_of(Sums.over(seen, misfit))

    @abstractmethod
    def metric_of(self, sums: Sums) -> tuple[Metric, Tensor]:
        """The same from sums over the samples, taken elsewhere."""


def eigh(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of a symmetric matrix, with no more threads than it has work for.

    Below a thousand rows per thread, threads gain next to nothing and wait for one another at every step: on a machine
    that does something else besides, fifty times as long as one thread takes.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, min(before, len(matrix) // 1000)))
    try:
        with expecting("Eigenvalues", lambda: _seconds(matrix)):
            values, vectors = torch.linalg.eigh(matrix)
    finally:
        torch.set_num_threads(before)
    return values, vectors


def _seconds(matrix: Tensor) -> float:
    """How long its eigenvalues should take: a corner's time, grown with the cube of the side."""
    side = min(len(matrix), _CORNER)
    started = time.perf_counter()
    torch.linalg.eigh(matrix[:side, :side])
    return (time.perf_counter() - started) * (len(matrix) / side) ** 3
