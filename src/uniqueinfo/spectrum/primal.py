"""The primal form, from H = JᵀJ: cost linear in the number of samples, memory independent of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from uniqueinfo.spectrum.eigensystem import EPS, FromRows, eigh
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.types import Index


@dataclass(frozen=True, eq=False)
class Primal(FromRows):
    """Eigenvectors of JᵀJ, and the rows of the samples it is looked at from.

    >>> import numpy as np
    >>> sums = Sums(np.diag([4.0, 1.0]), np.array([[2.0], [1.0]]), samples=3)
    >>> Primal.from_sums(sums).values
    tensor([1., 4.], dtype=torch.float64)
    """

    values: Tensor
    moment: Tensor
    basis: Tensor
    """U, (width, width)."""
    rows: Rows | None = None

    @classmethod
    def from_sums(cls, sums: Sums, rows: Rows | None = None, before: float = 0.0) -> Primal:
        """Decompose JᵀJ; what is left of a larger one is rounded as that was, whose largest eigenvalue was `before`."""
        device = torch.device("cpu") if rows is None else rows.device
        values, basis = eigh(torch.from_numpy(sums.gram).to(device))
        values = torch.where(values > len(values) * EPS * before, values, 0.0)
        basis = basis.contiguous()
        return cls(values, basis.T @ torch.from_numpy(sums.moment).to(device), basis, rows)

    def toward(self, residual: Tensor) -> Self:
        """One pass over the samples, for Jᵀr."""
        rows = self._rows
        moment = residual.new_zeros(rows.width, residual.shape[2])
        for part in rows.chunks():
            moment.addmm_(rows[part].flatten(0, 1).T, residual[part].flatten(0, 1))
        return replace(self, moment=self.basis.T @ moment)

    def over(self, index: Index, rows: Rows | None) -> Self:
        """On other rows."""
        return replace(self, rows=rows)

    def rotate(self, seen: Tensor) -> Tensor:
        """J U."""
        return torch.matmul(seen, self.basis)

    def metric_of(self, sums: Sums) -> tuple[Metric, Tensor]:
        """Uᵀ (J_valᵀ J_val) U / m."""
        gram, moment = (torch.from_numpy(part).to(self.basis.device) for part in (sums.gram, sums.moment))
        square = torch.matmul(self.basis.T @ gram, self.basis) / sums.samples
        return Metric(square, factor=False), self.basis.T @ moment / sums.samples

    def weights(self, coordinates: Tensor) -> Tensor:
        """U times the coordinates."""
        return torch.matmul(self.basis, coordinates)
