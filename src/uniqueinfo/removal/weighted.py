"""Products with Jacobian rows that every sample weighs by the curvature of its own loss.

Rows are (samples, per_sample, width), and `columns` outputs share each of them (a linear head: J = x ⊗ I). The k
outputs of a sample are the pairs (row, column), and weights are vectors of columns × width numbers, column after
column: for a whole network there is one column, and they are its weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Some samples: their rows, and how many outputs share each."""

    rows: Tensor
    columns: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def outputs(self) -> int:
        """k."""
        return self.rows.shape[1] * self.columns

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.columns * self.rows.shape[2]

    def moved(self, weights: Tensor) -> Tensor:
        """J w of every sample for some vectors of weights (vectors, size): (vectors, samples, k)."""
        flat, width = self.rows.flatten(0, 1), self.rows.shape[2]
        each = (weights.reshape(-1, width) @ flat.T).reshape(len(weights), self.columns, len(self), -1)
        return each.permute(0, 2, 3, 1).flatten(2)

    def pushed(self, outputs: Tensor) -> Tensor:
        """Σ over samples of Jᵀv, for v (vectors, samples, k): (vectors, size)."""
        per_sample, width = self.rows.shape[1:]
        each = outputs.reshape(len(outputs), len(self), per_sample, self.columns).permute(0, 3, 1, 2)
        flat = each.reshape(len(outputs) * self.columns, -1) @ self.rows.flatten(0, 1)
        return flat.reshape(len(outputs), self.columns * width)

    def each_moved(self, weights: Tensor) -> Tensor:
        """J w of every sample with its own w (samples, size): (samples, k)."""
        own = weights.reshape(len(self), self.columns, -1)
        return torch.einsum("bpw,bcw->bpc", self.rows, own).flatten(1)

    def each_pushed(self, outputs: Tensor) -> Tensor:
        """Jᵀv of every sample with its own v (samples, k): (samples, size)."""
        wanted = outputs.reshape(len(self), -1, self.columns)
        return torch.einsum("bpw,bpc->bcw", self.rows, wanted).flatten(1)

    def curved(self, curvature: Tensor) -> Tensor:
        """Σ over samples of JᵀAJ, for A (samples, k, k): (size, size)."""
        rows, width = self.rows, self.rows.shape[2]
        if self.columns == 1:
            return rows.flatten(0, 1).T @ (curvature @ rows).flatten(0, 1)
        assert rows.shape[1] == 1, "outputs either share a row or have rows of their own"
        found = rows.new_empty(self.columns, width, self.columns, width)
        for one in range(self.columns):
            for other in range(one, self.columns):
                block = (rows[:, 0] * curvature[:, one, other, None]).T @ rows[:, 0]
                found[one, :, other], found[other, :, one] = block, block.T
        return found.reshape(self.size, self.size)

    def rotated(self, basis: Tensor) -> Tensor:
        """J U of every sample, for U (size, size): (samples, k, size)."""
        if self.columns == 1:
            return self.rows @ basis
        each = torch.einsum("bw,cwd->bcd", self.rows[:, 0], basis.reshape(self.columns, -1, basis.shape[1]))
        return each
