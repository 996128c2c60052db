"""Samples to look at a trained function on: validation data, or anything else with rows of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.samples.border import Kind
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Target:
    """What functional information and value look at: the Fisher matrix, and the gradient of the validation loss."""

    fisher: Metric
    gradient: Tensor | None
    """(columns, rank); None without validation targets."""


@dataclass(frozen=True, eq=False)
class Inner:
    """Inner products of rows that are themselves not known: of a network through exact kernels."""

    among: Tensor
    """z zᵀ of all samples with each other, (samples, per_sample, samples, per_sample)."""
    across: Tensor | None
    """J_val zᵀ with the validation samples, (m, per_sample, samples, per_sample); None where there are none."""

    @property
    def own(self) -> Tensor:
        """z zᵀ of each sample with itself, (samples, per_sample, per_sample)."""
        return self.among.diagonal(dim1=0, dim2=2).permute(2, 0, 1)


@dataclass(frozen=True, eq=False)
class Probe:
    """Other samples, seen from one eigensystem."""

    system: Eigensystem
    rows: Rows
    initial: Tensor
    """Outputs before training, (m, per_sample, columns)."""
    targets: Tensor | None = None
    """Wanted outputs, of the same shape."""
    known: tuple[Metric, Tensor] | None = None
    """F and Z_valᵀ(f₀ − y)/m where they were summed up elsewhere."""
    inner: Callable[[], Inner] | None = None
    """How to come to the inner products of these samples, where `rows` are kernel values."""
    ids: NDArray[Any] | None = None
    """The user's names of these samples; None where they are counted."""
    columns: pd.DataFrame | None = None
    """The user's own columns of these samples."""

    @property
    def samples(self) -> int:
        """How many there are."""
        return self.rows.samples

    @property
    def names(self) -> NDArray[Any]:
        """What to call the samples: their ids, or 0 … m − 1."""
        return np.arange(self.samples) if self.ids is None else self.ids

    @cached_property
    def seen(self) -> Rows:
        """The rows as the eigensystem's form looks at them: kernel values in the dual form."""
        return self.system.seen(self.rows)

    def outputs(self, coordinates: Tensor) -> Tensor:
        """Outputs with these weights, (m, per_sample, columns): the samples are not rotated."""
        weights = self.system.coefficients(coordinates)
        return torch.cat([self.initial[part] + self.seen[part] @ weights for part in self.seen.chunks()])

    def moved(self, delta: Tensor) -> Floats:
        """Z_val δ: how every output moves with each change (removals, columns, rank) → (removals, m, outputs)."""
        found: Floats = torch.cat([moved for _, moved in self.movements(delta)], dim=1).cpu().numpy()
        return found

    def movements(self, delta: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """The same, some of the samples at a time: (which, (removals, some, outputs))."""
        removals, columns, _ = delta.shape
        weights = self.system.coefficients(delta.flatten(0, 1).T)  # (seen width, removals × columns)
        each = 8 * self.seen.per_sample * (self.seen.width + 2 * removals * columns)
        for part in self.seen.chunks(each):
            moved = self.seen[part] @ weights
            yield part, moved.reshape(*moved.shape[:2], removals, columns).permute(2, 0, 1, 3).flatten(2)

    def direction(self, sample: int, output: int) -> Tensor:
        """v with ⟨δ, v⟩ = how one output of one sample moves with a change δ, (columns, rank)."""
        columns = self.initial.shape[2]
        row, column = divmod(output, columns)
        found = self.initial.new_zeros(columns, self.system.rank, dtype=self.system.values.dtype)
        found[column] = self.system.rotate(self.seen[sample : sample + 1][:, row])[0]
        return found

    def target(self, coordinates: Tensor) -> Target:
        """The Fisher matrix and, where targets are known, the gradient of the mean validation loss at these weights.

        The outputs being f₀ + Z_val c, that gradient is Fc + Z_valᵀ(f₀ − y)/m: the samples are gone through once for
        all trainings.
        """
        fisher, pull = self._sums
        return Target(fisher, None if self.targets is None else fisher.apply(coordinates.T) + pull.T)

    def without_targets(self) -> Probe:
        """The same samples, of which only the function matters."""
        return replace(self, targets=None)

    def toward(self, targets: Tensor) -> Probe:
        """The same samples with other targets, (m, per_sample, columns)."""
        return replace(self, targets=targets, known=None)

    @property
    def fisher(self) -> Metric:
        """F = J_valᵀJ_val / m, through the rows themselves where these are few."""
        return self._sums[0]

    @cached_property
    def _sums(self) -> tuple[Metric, Tensor]:
        """F, and Z_valᵀ(f₀ − y)/m (rank, columns); y = f₀ where targets are not known."""
        if self.known is not None:
            return self.known
        misfit = torch.zeros_like(self.initial) if self.targets is None else self.initial - self.targets
        return self.system.metric(self.seen, misfit)


PROBE = Kind("a probe, as linearization.probe makes it", (Probe,))
