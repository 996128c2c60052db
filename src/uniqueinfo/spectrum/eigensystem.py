"""The one eigendecomposition behind everything, in two forms with one face.

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
from copy import copy
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.progress import expecting, progress
from uniqueinfo.spectrum.rows import CHUNK_BYTES, Rows, slices
from uniqueinfo.training import ConvergedFilter, Filter

_CORNER = 400  # rows whose eigenvalues are timed to tell how long all will take
_TALLEST = 2  # rows of other samples are held, for each of the eigenvectors
_EPS = float(np.finfo(np.float64).eps)


class Eigensystem(ABC):
    """Eigenvalues, the training rows in the eigenbasis, and Jᵀr there."""

    values: Tensor
    """Eigenvalues of JᵀJ, (rank,); rounding below zero is cut off."""
    moment: Tensor
    """Zᵀr, (rank, columns)."""
    left_moment: Tensor
    """What `left` rows are multiplied with to give the left side's moments: Eᵀr, (rank, columns)."""
    identity: float
    """A removal solves with identity·I ± E diag(1/(s − p)) Eᵀ of its `left` rows E: dual 0 and +, primal 1 and −."""

    reach: float = math.inf
    """The longest training (its filter's horizon) that can be told about: a sketch knows only its first part."""

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
        return self.rank * _EPS * self.largest

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
    def left(self, index: slice | NDArray[np.intp]) -> Tensor:
        """The rows E that removals solve with: V for dual, Z for primal, (samples, per_sample, rank)."""

    @abstractmethod
    def right(self, left: Tensor) -> Tensor:
        """The rows Z that belong to rows E."""

    @abstractmethod
    def fitted(self, coordinates: Tensor) -> Tensor:
        """What weights of these coordinates (rank, columns) add to the training outputs, (n, per_sample, columns)."""

    @abstractmethod
    def rotate(self, rows: Tensor) -> Tensor:
        """Rows of other samples → Z."""

    def rotate_all(self, rows: Rows) -> Tensor:
        """Rows of all other samples → Z, one below the other."""
        parts = rows.chunks(8 * rows.per_sample * max(rows.width, self.rank))
        return torch.cat([self.rotate(rows[part]).flatten(0, 1) for part in parts])

    @abstractmethod
    def sums(self, rows: Rows, misfit: Tensor) -> tuple[Tensor, Tensor]:
        """Σ ZᵀZ (rank, rank) and Σ Zᵀ(their misfit) (rank, columns) over the rows of other samples."""

    def few(self, rows: int, columns: int) -> bool:
        """Whether δᵀ(ZᵀZ)δ of all removals is cheaper through so many rows Z of other samples than through ZᵀZ."""
        return rows < self.rank

    @abstractmethod
    def weights(self, coordinates: Tensor) -> Tensor:
        """Coordinates (rank, columns) → weights (width, columns)."""

    def multiplier(self, coordinates: Tensor) -> Tensor:
        """What rows of other samples are multiplied with to give Z times the coordinates: the weights."""
        return self.weights(coordinates)


class Primal(Eigensystem):
    """From H = JᵀJ: cost linear in the number of samples, memory independent of it."""

    identity = 1.0

    def __init__(self, rows: Rows, residual: Tensor) -> None:
        self._rows = rows
        hessian, moment = gram(rows, residual)
        values, self._basis = eigh(hessian)
        self.values = values.clamp(min=0)
        self.moment = self.left_moment = self._basis.T @ moment

    def toward(self, residual: Tensor) -> Self:
        """One pass over the samples, for Jᵀr."""
        found = copy(self)
        moment = residual.new_zeros(self._rows.width, residual.shape[2])
        for part in self._rows.chunks():
            moment.addmm_(self._rows[part].flatten(0, 1).T, residual[part].flatten(0, 1))
        found.moment = found.left_moment = self._basis.T @ moment
        return found

    def left(self, index: slice | NDArray[np.intp]) -> Tensor:
        """Z = JU."""
        rows = self._rows[index]
        return torch.matmul(rows, self._basis)

    def right(self, left: Tensor) -> Tensor:
        """Z itself."""
        return left

    def fitted(self, coordinates: Tensor) -> Tensor:
        """J times the weights: the samples are not rotated."""
        weights = self.weights(coordinates)
        found = weights.new_empty(self._rows.samples, self._rows.per_sample, weights.shape[1])
        for part in self._rows.chunks():
            found[part] = self._rows[part] @ weights
        return found

    def rotate(self, rows: Tensor) -> Tensor:
        """J_val U."""
        return torch.matmul(rows, self._basis)

    def sums(self, rows: Rows, misfit: Tensor) -> tuple[Tensor, Tensor]:
        """Uᵀ (J_valᵀ J_val) U: the sums are taken first, so that the samples are not rotated."""
        square, moment = gram(rows, misfit)
        return torch.matmul(self._basis.T @ square, self._basis), self._basis.T @ moment

    def weights(self, coordinates: Tensor) -> Tensor:
        """U times the coordinates."""
        return torch.matmul(self._basis, coordinates)


class Dual(Eigensystem):
    """From Θ = JJᵀ: for more columns than rows; the eigenvectors are complete, so nothing cancels at interpolation."""

    identity = 0.0

    def __init__(self, rows: Rows | None, residual: Tensor, kernel: Tensor | None = None) -> None:
        self._rows = rows
        self._per_sample = residual.shape[1]
        if kernel is None:
            assert rows is not None
            kernel = products(rows, rows)
        values, self._basis = eigh(kernel)
        # A null direction comes out with a length of √ε, which long training would multiply: it has none.
        noise = 4 * len(values) ** 0.5 * _EPS * float(values.max())
        self.values = torch.where(values > noise, values, 0.0)
        self._roots = self.values.sqrt()
        # Jᵀ V = U S: a direction without length has no U.
        self._inverse_roots = torch.where(self.values > 0, 1 / self._roots, 0.0)
        self._take(residual)

    def toward(self, residual: Tensor) -> Self:
        """Vᵀr anew."""
        found = copy(self)
        found._take(residual)
        return found

    def left(self, index: slice | NDArray[np.intp]) -> Tensor:
        """The rows of V."""
        rows: Tensor = self._basis.reshape(-1, self._per_sample, self.rank)[index]
        return rows

    def right(self, left: Tensor) -> Tensor:
        """Z = VS."""
        return torch.mul(left, self._roots)

    def fitted(self, coordinates: Tensor) -> Tensor:
        """V S times the coordinates."""
        found = self._basis @ (self._roots[:, None] * coordinates)
        return found.reshape(-1, self._per_sample, coordinates.shape[1])

    def rotate(self, rows: Tensor) -> Tensor:
        """J_val U = (J_val Jᵀ) V S⁻¹; where no rows are held, `rows` are the kernel J_val Jᵀ itself."""
        if self._rows is not None:
            flat = rows.flatten(0, 1)
            parts = [flat @ self._rows[part].flatten(0, 1).T for part in self._rows.chunks()]
            rows = torch.cat(parts, dim=1).reshape(*rows.shape[:2], -1)
        return torch.mul(rows @ self._basis, self._inverse_roots)

    def rotate_all(self, rows: Rows) -> Tensor:
        """In the large blocks of `products`: the training rows are not gone through for every few of the others."""
        if self._rows is None:
            return super().rotate_all(rows)
        return torch.mul(products(rows, self._rows) @ self._basis, self._inverse_roots)

    def few(self, rows: int, columns: int) -> bool:
        """With v vectors δ, v·rows·rank operations and the memory of Z, against (rows + v)·rank²."""
        vectors = self.rank // self._per_sample * columns
        return rows * vectors < (rows + vectors) * self.rank and rows <= _TALLEST * self.rank

    def sums(self, rows: Rows, misfit: Tensor) -> tuple[Tensor, Tensor]:
        """Sample by sample, in chunks."""
        square = self.values.new_zeros(self.rank, self.rank)
        moment = self.values.new_zeros(self.rank, misfit.shape[2])
        for part in rows.chunks(8 * rows.per_sample * max(rows.width, self.rank)):
            flat = self.rotate(rows[part]).flatten(0, 1)
            square.addmm_(flat.T, flat)
            moment.addmm_(flat.T, misfit[part].flatten(0, 1))
        return square, moment

    def weights(self, coordinates: Tensor) -> Tensor:
        """Jᵀ V S⁻¹ times the coordinates."""
        assert self._rows is not None, "a kernel alone has no weights"
        dual = self._dual(coordinates).reshape(-1, self._per_sample, coordinates.shape[1])
        total = coordinates.new_zeros(self._rows.width, coordinates.shape[1])
        for part in self._rows.chunks():
            total.addmm_(self._rows[part].flatten(0, 1).T, dual[part].flatten(0, 1))
        return total

    def multiplier(self, coordinates: Tensor) -> Tensor:
        """Where no rows are held, those of others are kernel values, and belong to dual coefficients."""
        return self._dual(coordinates) if self._rows is None else self.weights(coordinates)

    def _dual(self, coordinates: Tensor) -> Tensor:
        """V S⁻¹ times the coordinates."""
        return self._basis @ (self._inverse_roots[:, None] * coordinates)

    def _take(self, residual: Tensor) -> None:
        self.left_moment = self._basis.T @ residual.reshape(len(self._basis), -1)
        self.moment = self._roots[:, None] * self.left_moment


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


def gram(rows: Rows, residual: Tensor) -> tuple[Tensor, Tensor]:
    """(JᵀJ, Jᵀr) in one pass over the samples."""
    total = torch.zeros(rows.width, rows.width, dtype=torch.float64, device=rows.device)
    moment = torch.zeros(rows.width, residual.shape[2], dtype=torch.float64, device=rows.device)
    with progress("Products of the rows", rows.samples) as advance:
        for part in rows.chunks():
            flat = rows[part].flatten(0, 1)
            total.addmm_(flat.T, flat)
            moment.addmm_(flat.T, residual[part].flatten(0, 1))
            advance(part.stop - part.start)
    return total, moment


def products(left: Rows, right: Rows) -> Tensor:
    """J_left J_rightᵀ, block by block; one block of each while they fit, and one triangle where both are the same."""
    out = torch.empty(
        left.samples * left.per_sample,
        right.samples * right.per_sample,
        dtype=torch.float64,
        device=left.device,
    )
    block = 8 * CHUNK_BYTES
    tall = list(slices(left.samples, 8 * left.per_sample * left.width * CHUNK_BYTES // block))
    wide = (
        tall
        if right is left
        else list(slices(right.samples, 8 * right.per_sample * right.width * CHUNK_BYTES // block))
    )
    with progress("Products of the rows", left.samples) as advance:
        for part in tall:
            upper = left[part].flatten(0, 1)
            at = slice(part.start * left.per_sample, part.stop * left.per_sample)
            for other in wide:
                if right is left and other.start < part.start:
                    continue
                across = slice(other.start * right.per_sample, other.stop * right.per_sample)
                same = right is left and other == part
                torch.mm(upper, (upper if same else right[other].flatten(0, 1)).T, out=out[at, across])
                if right is left and not same:
                    out[across, at] = out[at, across].T
            advance(part.stop - part.start)
    return out
