"""What a removal changes: δ = w − w₋ of a chunk of blocks, and the few products measures need of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from uniqueinfo.removal.solve import Solution
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.types import Indices


class Delta(Protocol):
    """Changes of the weights of a chunk of blocks, in coordinates."""

    def explicit(self) -> Tensor:
        """δ, (blocks, columns, rank)."""

    def square(self) -> Tensor:
        """‖δ‖², (blocks,)."""

    def quadratic(self, metric: Metric) -> Tensor:
        """Σ over columns of δᵀMδ, (blocks,)."""

    def inner(self, vectors: Tensor) -> Tensor:
        """⟨δ, v⟩ with v (columns, rank), (blocks,)."""

    def outputs(self, rows: Tensor) -> Tensor:
        """Zδ: how outputs at each block's own rows (blocks, rows, rank) move, (blocks, rows, columns)."""


@dataclass(frozen=True, eq=False)
class Explicit:
    """δ written out."""

    delta: Tensor

    def explicit(self) -> Tensor:
        """δ itself."""
        return self.delta

    def square(self) -> Tensor:
        """‖δ‖²."""
        flat = self.delta.flatten(1)
        square: Tensor = torch.linalg.vecdot(flat, flat)
        return square

    def quadratic(self, metric: Metric) -> Tensor:
        """Σ δᵀMδ."""
        return metric.of(self.delta).sum(dim=1)

    def inner(self, vectors: Tensor) -> Tensor:
        """⟨δ, v⟩."""
        return self.delta.flatten(1) @ vectors.flatten()

    def outputs(self, rows: Tensor) -> Tensor:
        """Zδ."""
        return rows @ self.delta.transpose(1, 2)


@dataclass(frozen=True, eq=False)
class Shift:
    """One change d that all blocks share. What measures need of it alone is the same in every chunk, and found once."""

    vectors: Tensor
    """d, (columns, rank)."""
    _seen: dict[Metric, tuple[Tensor, Tensor]] = field(default_factory=dict, repr=False)

    @cached_property
    def is_there(self) -> bool:
        """Not where training runs to the end: fewer samples then have the same filter."""
        return bool(self.vectors.any())

    @cached_property
    def square(self) -> Tensor:
        """‖d‖²."""
        return self.vectors.square().sum()

    def under(self, metric: Metric) -> tuple[Tensor, Tensor]:
        """Md of every column, and Σ dᵀMd."""
        if metric not in self._seen:
            self._seen[metric] = metric.apply(self.vectors), metric.of(self.vectors).sum()
        return self._seen[metric]


@dataclass(frozen=True, eq=False)
class Factored:
    """δ = Yᵀ A + d with A = z ∘ basis: one row, more output columns than functions, and a shift shared by all blocks.

    A linear head with many outputs and few poles is of this kind; its cost follows the poles, not the outputs:
    Σ δᵀMδ = Σ (A M Aᵀ) ∘ (Y Yᵀ) + 2 Σ Y ∘ (A M dᵀ) + Σ dMdᵀ.
    """

    row: Tensor  # z, (blocks, rank)
    basis: Tensor  # (functions, rank)
    coefficients: Tensor  # Y, (blocks, functions, columns)
    shift: Shift

    def explicit(self) -> Tensor:
        """δ, multiplied out."""
        return (self.coefficients.transpose(1, 2) @ self.basis) * self.row[:, None] + self.shift.vectors

    def square(self) -> Tensor:
        """‖δ‖²."""
        functions = len(self.basis)
        overlap = (self.basis[:, None] * self.basis).flatten(0, 1)
        gram = (self.row.square() @ overlap.T).reshape(-1, functions, functions)
        found = self._squares(gram)
        if not self.shift.is_there:
            return found
        return found + 2 * self._along(self.shift.vectors) + self.shift.square

    def quadratic(self, metric: Metric) -> Tensor:
        """Σ δᵀMδ."""
        A = self.row[:, None] * self.basis
        gram = metric.of(A)[..., None] if len(self.basis) == 1 else metric.apply(A) @ A.transpose(1, 2)
        found = self._squares(gram)
        if not self.shift.is_there:
            return found
        turned, own = self.shift.under(metric)
        return found + 2 * self._along(turned) + own

    def inner(self, vectors: Tensor) -> Tensor:
        """⟨δ, v⟩."""
        shared: Tensor = torch.tensordot(self.shift.vectors, vectors)
        return self._along(vectors) + shared

    def outputs(self, rows: Tensor) -> Tensor:
        """Zδ, for the one row of each block."""
        reached = ((self.row * rows[:, 0]) @ self.basis.T)[:, None] @ self.coefficients
        return reached + rows @ self.shift.vectors.T if self.shift.is_there else reached

    def _squares(self, gram: Tensor) -> Tensor:
        return (gram * (self.coefficients @ self.coefficients.transpose(1, 2))).sum(dim=(1, 2))

    def _along(self, vectors: Tensor) -> Tensor:
        """⟨YᵀA, v⟩ of every block, without forming YᵀA."""
        reached: Tensor = torch.linalg.vecdot(((self.coefficients @ vectors) * self.basis).sum(dim=1), self.row)
        return reached


@dataclass(frozen=True, eq=False)
class Changes:
    """One chunk of removals."""

    numbers: Indices
    """Which removals these are, in the user's order."""
    members: Indices
    """The samples that left with each, (blocks, size)."""
    place: slice
    """Where these stand among the removals of their size."""
    of: int
    """How many removals of their size there are."""
    rows: Tensor
    """Z of the samples that left, (blocks, rows, rank)."""
    delta: Delta


def is_factored(per_block: int, columns: int, functions: int) -> bool:
    """Whether changes are kept as factors: those of one row with more outputs than functions of the eigenvalues."""
    return per_block == 1 and columns > functions


def assemble(rows: Tensor, solution: Solution, shift: Shift) -> Delta:
    """The change of each block from its rows Z, its solution, and the shift that all removals share."""
    per_block, columns, functions = solution.coefficients.shape[1:]
    if is_factored(per_block, columns, functions):
        return Factored(rows[:, 0], solution.basis, solution.coefficients[:, 0].transpose(1, 2), shift)
    spectral = solution.coefficients @ solution.basis
    spectral *= rows[:, :, None]
    delta = spectral[:, 0] if per_block == 1 else spectral.sum(dim=1)
    return Explicit(delta.add_(shift.vectors))
