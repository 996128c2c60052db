"""The one value under every removal: an eigensystem trained by an algorithm."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor

from uniqueinfo.errors import FitError
from uniqueinfo.removal.blocks import Block, Everyone, Some
from uniqueinfo.removal.course import Point
from uniqueinfo.removal.learning import Learnt, learn, looked_at
from uniqueinfo.removal.space import Space
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows, slices
from uniqueinfo.training import Filter, GradientDescent, Training
from uniqueinfo.training.rational import fit
from uniqueinfo.types import Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedSystem:
    """All samples trained together; those that `system` and `residual` speak of may be all of them, or some."""

    system: Eigensystem
    residual: Tensor
    """Targets − initial outputs of the samples looked at, (samples, per_sample, columns)."""
    initial: Tensor
    """Outputs of these before training, of the same shape."""
    wanted: Tensor | None = None
    """Targets as they were given, where they were."""
    samples: int
    """How many were trained on."""
    training: Training
    known: Learnt | None = None
    """What was learnt by another loss than squared error, where that was found out before."""
    others: Everyone | None = None
    """Goes through all training samples, where those looked at are only some."""
    along: Tensor | None = None
    """Outputs of these at the checkpoints of a training that happened, (points, samples, per_sample, columns)."""
    first: int = 0
    """The number of the first of those looked at."""

    @cached_property
    def coordinates(self) -> Tensor:
        """Uᵀ(w − w0) after the training, (rank, columns)."""
        if self.learnt is not None:
            return self.space.coordinates(self.learnt.end).T
        return self.coordinates_under(self.training.filter(self.samples))

    def coordinates_under(self, filter: Filter) -> Tensor:
        """Uᵀ(w − w0) = φ(s) ∘ Zᵀr under a filter of squared error, (rank, columns)."""
        return self.system.apply(filter)[:, None] * self.system.moment

    @cached_property
    def learnt(self) -> Learnt | None:
        """Under another loss than squared error."""
        if self.training.in_closed_form:
            return None
        if self.known is not None:
            return self.known
        sums = LocalSums(self)
        return learn(sums, self.training, self.block(looked_at(self.samples)), self.everyone, self.residual[0].numel())

    @cached_property
    def space(self) -> Space:
        """The weights in which another loss is followed."""
        return Space(self.system, self.residual.shape[2])

    def block(self, members: Indices) -> Block:
        """Samples that leave together, (removals, size)."""
        return Block(members + self.first, self.some(members.reshape(-1)))

    @property
    def everyone(self) -> Everyone:
        """All training samples, some at a time."""
        return self._all if self.others is None else self.others

    def _all(self) -> Iterator[Some]:
        for part in slices(self.samples, 8 * self.space.size * self.residual.shape[1]):
            yield self.some(np.arange(part.start, part.stop))

    def some(self, numbers: Indices) -> Some:
        """Some of the samples looked at."""
        initial = self.initial[numbers].flatten(1)
        targets = (
            initial + self.residual[numbers].flatten(1) if self.wanted is None else self.wanted[numbers].flatten(1)
        )
        along = None if self.along is None else self.along[:, numbers].flatten(2)
        return Some(numbers + self.first, self.space.rows(numbers), initial, targets, along)

    def probe(self, rows: Any) -> Probe:
        """Other samples to look at, by their rows (m, per_sample, width)."""
        found = Rows.given("validation rows", rows, ("samples", "outputs", "parameters"), self.residual.device)
        return Probe(self.system, found, self.residual.new_zeros(found.samples, *self.residual.shape[1:]))


@dataclass(frozen=True, eq=False)
class LocalSums:
    """Sums over the samples of a system that lie here."""

    run: TrainedSystem

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.run.space.size

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return self.run.samples

    def gradient(self, point: Point) -> Tensor:
        """Σ Jᵀg."""
        loss = self.run.training.criterion
        total = self.run.residual.new_zeros(self.size)
        for some in self.run.everyone():
            total += some.gradient(loss, point)
        return total

    def curvature(self, start: Point, end: Point) -> Tensor:
        """Σ JᵀAJ."""
        loss = self.run.training.criterion
        total = self.run.residual.new_zeros(self.size, self.size)
        for some in self.run.everyone():
            total += some.curvature(loss, (start, end))
        return total


def trainable(system: Eigensystem, training: Training, samples: int) -> Training:
    """The training as it can be followed.

    A rate at which squared error diverges, and what a sketch cannot tell, are refused; other losses are watched as they
    go. Flow of the same length takes the place of momentum that still swings at its end, which is no function of few
    poles, and of all momentum under other losses; that is said.
    """
    if training.in_closed_form:
        training.check_stable(system.largest, samples)
        system.check_reached(training.filter(samples))
    if not isinstance(training, GradientDescent) or not training.momentum or _carried(system, training, samples):
        return training
    flow = training.flow()
    warnings.warn(f"{training.words()} is followed as {flow.words()}: as long, without its swinging.", stacklevel=3)
    return flow


def _carried(system: Eigensystem, training: GradientDescent, samples: int) -> bool:
    """Whether descent with momentum can be written over poles, with all samples and once one has left."""
    if not training.in_closed_form:
        return False
    try:
        for count in {samples, max(1, samples - 1)}:
            fit(training.filter(count), system.largest)
    except FitError:
        return False
    return True
