"""All samples leaving one by one, as the few numbers that their changes are made of.

A change is δ = Σ_rows Z ∘ (y @ b) + d, with coefficients y of each sample, and functions b of the eigenvalues and a
shift d that all share. Finding y takes all samples in the eigenbasis; how δ moves one direction v then does not:

    ⟨δ, v⟩ = Σ_rows y · Z(b ∘ v) + ⟨d, v⟩
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.leaving import Leaving
from uniqueinfo.removal.trained import TrainedSystem


@dataclass(frozen=True, eq=False)
class Solved:
    """What leaves with each sample of one training."""

    coefficients: Tensor
    """y, (n, rows, columns, functions)."""
    basis: Tensor
    """b, (functions, rank)."""
    shift: Tensor
    """d, (columns, rank)."""

    @classmethod
    def of(cls, run: TrainedSystem) -> Solved | None:
        """None where removals have no closed form, so that the rest is trained again."""
        if not run.training.in_closed_form:
            return None
        (bucket,) = Groups.each(run.samples)
        leaving = Leaving(run, bucket, run.samples)
        if not leaving.closed:
            return None
        found = list(leaving.solutions())
        parts = torch.cat([part.coefficients for part in found]), found[0].basis, leaving.shift.vectors
        return cls(*(part.contiguous() for part in parts))  # as when read from a file: other layouts round otherwise

    def along(self, run: TrainedSystem, direction: Tensor) -> Tensor:
        """⟨δ, v⟩ of every sample with v (columns, rank), (n,)."""
        found = direction.new_full((len(self.coefficients),), float((self.shift * direction).sum()))
        for column in direction.any(dim=1).nonzero().flatten().tolist():
            reached = run.system.fitted((self.basis * direction[column]).T)
            found += (self.coefficients[:, :, column] * reached).sum(dim=(1, 2))
        return found
