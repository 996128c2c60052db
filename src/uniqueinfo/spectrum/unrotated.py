"""A system that is not decomposed: weights are their own coordinates, for trainings that are followed step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from uniqueinfo.spectrum.eigensystem import FromRows
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.types import Index


@dataclass(frozen=True, eq=False)
class Unrotated(FromRows):
    """The rows of the samples it is looked at from, as they are; no eigenvalue is known.

    >>> Unrotated.of(Rows(torch.eye(2).reshape(2, 1, 2))).rotate(torch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    values: Tensor
    """Zero: not known."""
    moment: Tensor
    rows: Rows | None = None

    @classmethod
    def of(cls, rows: Rows) -> Unrotated:
        """Of the training samples' rows."""
        nothing = torch.zeros(rows.width, dtype=torch.float64, device=rows.device)
        return cls(nothing, nothing[:, None], rows)

    def toward(self, residual: Tensor) -> Self:
        """The same: residuals are the training's own."""
        return self

    def over(self, index: Index, rows: Rows | None) -> Self:
        """On other rows."""
        return replace(self, rows=rows)

    def rotate(self, seen: Tensor) -> Tensor:
        """As they are."""
        return seen

    def metric(self, seen: Rows, misfit: Tensor) -> tuple[Metric, Tensor]:
        """Through the rows themselves, however many: a square of as many columns is larger still."""
        rows = torch.cat([seen[part].flatten(0, 1) for part in seen.chunks()])
        return Metric(rows / seen.samples**0.5, factor=True), rows.T @ misfit.flatten(0, 1) / seen.samples

    def metric_of(self, sums: Sums) -> tuple[Metric, Tensor]:
        """From sums."""
        gram, moment = (torch.from_numpy(part).to(self.values.device) for part in (sums.gram, sums.moment))
        return Metric(gram / sums.samples, factor=False), moment / sums.samples

    def weights(self, coordinates: Tensor) -> Tensor:
        """The same."""
        return coordinates
