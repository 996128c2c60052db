"""The one value under every removal: an eigensystem trained by an algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.training import Filter, Training


@dataclass(frozen=True, eq=False)
class TrainedSystem:
    """All samples trained together; those that `system` and `residual` speak of may be all of them, or some."""

    system: Eigensystem
    residual: Tensor
    """Targets − initial outputs of the samples looked at, (samples, per_sample, columns)."""
    samples: int
    """How many were trained on."""
    training: Training

    @cached_property
    def coordinates(self) -> Tensor:
        """Uᵀ(w − w0) after the training, (rank, columns)."""
        return self.coordinates_under(self.training.filter(self.samples))

    def coordinates_under(self, filter: Filter) -> Tensor:
        """Uᵀ(w − w0) = φ(s) ∘ Zᵀr under a filter, (rank, columns)."""
        return self.system.apply(filter)[:, None] * self.system.moment

    def probe(self, rows: Any) -> Probe:
        """Other samples to look at, by their rows (m, per_sample, width)."""
        found = Rows.given("validation rows", rows, ("samples", "outputs", "parameters"), self.residual.device)
        return Probe(self.system, found, self.residual.new_zeros(found.samples, *self.residual.shape[1:]))
