"""The weights in which a training by any loss is followed, and the way from them to an eigensystem's coordinates.

Rows of features or of a projected Jacobian are used as they are. Where there are fewer rows than columns, the dual
form's rows Z are: the weights never leave the span of the training rows, and Z are the rows in a basis of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.removal.weighted import WeightedRows
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.spectrum.unrotated import Unrotated
from uniqueinfo.types import Index

MOST_WEIGHTS = 12_000
"""A matrix of as many rows and columns is decomposed for every stretch of the training."""


@dataclass(frozen=True, eq=False)
class Space:
    """Weights as vectors of columns × width numbers."""

    system: Eigensystem
    columns: int

    def __post_init__(self) -> None:
        if isinstance(self.system, Sketched):
            raise InputError("a sketch follows squared error alone; leave sketch= out, or train with loss='mse'")
        if not isinstance(self.system, Unrotated):
            check_size(self.size)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.columns * self.system.rank

    def rows(self, index: Index) -> WeightedRows:
        """Of some training samples."""
        system = self.system
        if isinstance(system, Primal):
            assert system.rows is not None
            return WeightedRows(system.rows[index], self.columns)
        return WeightedRows(system.right(system.left(index)), self.columns)

    def coordinates(self, weights: Tensor) -> Tensor:
        """Vectors of weights (…, size) → (…, columns, rank)."""
        each = weights.reshape(*weights.shape[:-1], self.columns, -1)
        return each @ self.system.basis if isinstance(self.system, Primal) else each

    def raw(self, rows: Tensor) -> WeightedRows:
        """Rows that were read elsewhere, as they are."""
        return WeightedRows(rows.to(torch.float64), self.columns)


def check_size(size: int) -> None:
    """Refuse more weights than can be followed."""
    if size > MOST_WEIGHTS:
        raise InputError(
            f"a loss other than squared error is followed in {size:,} weights at once here (at most "
            f"{MOST_WEIGHTS:,}); use fewer samples, fewer features, or a projection with fewer columns"
        )
