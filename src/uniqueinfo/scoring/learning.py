"""Another loss than squared error, learnt from samples that an engine goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.linearization.source import Chunk
from uniqueinfo.removal.blocks import Block, Everyone, Some
from uniqueinfo.removal.course import Point
from uniqueinfo.removal.learning import Learnt, learn, looked_at
from uniqueinfo.removal.loss_curve import MOST_LOOKED_AT, LossCurve, stopping_curve
from uniqueinfo.removal.space import Space
from uniqueinfo.removal.weighted import WeightedRows
from uniqueinfo.scoring.cut import slices
from uniqueinfo.scoring.engine import Session
from uniqueinfo.scoring.pieces import Piece, Sources
from uniqueinfo.spectrum.eigensystem import Eigensystem, FromRows
from uniqueinfo.spectrum.sums import tree
from uniqueinfo.training import Auto, Training
from uniqueinfo.training.losses import Loss
from uniqueinfo.types import Index, Indices


@dataclass(frozen=True, eq=False)
class _At:
    """Where the loss is looked at."""

    looked: Looked
    loss: Loss
    points: tuple[Point, ...]
    curved: bool
    """Whether the curvature is wanted, or the gradient."""


@dataclass(frozen=True, eq=False)
class Looked:
    """How samples are looked at: by their rows as they are read, or by those of a system that holds them all."""

    system: Eigensystem | None

    @classmethod
    def by(cls, system: Eigensystem) -> Looked:
        """Rows that are read need no system."""
        return cls(None if isinstance(system, FromRows) else system)

    def some(self, sources: Sources, index: Index) -> Some:
        """Some training samples."""
        chunk = sources.train.read(index, rows=self.system is None)
        assert chunk.targets is not None
        initial, numbers = chunk.initial.flatten(1), np.arange(sources.train.samples)[index]
        along = None if chunk.along is None else chunk.along.flatten(2)
        return Some(numbers, self._rows(chunk, index), initial, chunk.targets.flatten(1), along)

    def _rows(self, chunk: Chunk, index: Index) -> WeightedRows:
        columns = chunk.initial.shape[2]
        if self.system is not None:
            return Space(self.system, columns).rows(index)
        assert chunk.rows is not None
        return WeightedRows(chunk.rows, columns)


@dataclass(frozen=True, eq=False)
class SessionSums:
    """Sums over all training samples, taken by a session and added in one order."""

    session: Session
    space: Space
    looked: Looked
    loss: Loss
    samples: int
    partition: int

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.space.size

    def gradient(self, point: Point) -> Tensor:
        """Σ Jᵀg."""
        return self._sum(_At(self.looked, self.loss, (point,), curved=False))

    def curvature(self, start: Point, end: Point) -> Tensor:
        """Σ JᵀAJ."""
        return self._sum(_At(self.looked, self.loss, (start, end), curved=True))

    def _sum(self, at: _At) -> Tensor:
        pieces = {number: Piece("train", part) for number, part in enumerate(slices(self.samples, self.partition))}
        found = dict(self.session.map(_summed, at, pieces))
        return tree(list(pieces), found.__getitem__, torch.add)


def _summed(sources: Sources, at: _At, piece: Piece) -> Tensor:
    """A task: the sum of a piece."""
    some = at.looked.some(sources, piece.index)
    return some.curvature(at.loss, at.points) if at.curved else some.gradient(at.loss, at.points[0])


@dataclass(frozen=True, eq=False)
class Learning:
    """Learning from the samples of a session by another loss than squared error."""

    session: Session
    sources: Sources
    system: Eigensystem
    partition: int

    def learnt(self, training: Training) -> Learnt | None:
        """What is learnt from all samples; None for squared error."""
        if training.in_closed_form:
            return None
        train = self.sources.train
        everyone = everyone_of(self.sources, self._looked, self.partition)
        block = self._block(looked_at(train.samples))
        return learn(self._sums(training.criterion), training, block, everyone, train.per_sample * train.columns)

    def curve(self, training: Auto) -> LossCurve:
        """The leave-one-out loss of every stopping time."""
        some = self._block(looked_at(self.sources.train.samples, MOST_LOOKED_AT))
        return stopping_curve(self._sums(training.criterion), training, some)

    @property
    def _looked(self) -> Looked:
        return Looked.by(self.system)

    def _sums(self, loss: Loss) -> SessionSums:
        train = self.sources.train
        space = Space(self.system, train.columns)
        return SessionSums(self.session, space, self._looked, loss, train.samples, self.partition)

    def _block(self, members: Indices) -> Block:
        return Block(members, self._looked.some(self.sources, members[:, 0]))


def check_targets(sources: Sources, training: Training, partition: int) -> None:
    """Refuse targets that the loss has no meaning for, before anything is computed."""
    loss = training.criterion
    if loss.is_quadratic:
        return
    for part in slices(sources.train.samples, partition):
        targets = sources.train.read(part, rows=False).targets
        assert targets is not None
        loss.check(targets.flatten(1))


def everyone_of(sources: Sources, looked: Looked, partition: int) -> Everyone:
    """All training samples, partition by partition."""
    return partial(_everyone, sources, looked, partition)


def _everyone(sources: Sources, looked: Looked, partition: int) -> Iterator[Some]:
    for part in slices(sources.train.samples, partition):
        yield looked.some(sources, part)
