"""The passes of a sketch over the samples of a session: partitions looked at anywhere, added up in one order."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.scoring.engine import Session, Task
from uniqueinfo.scoring.pieces import Piece, Sources, groups, shown, sizes
from uniqueinfo.spectrum.krylov import left_outside, mixed, twice
from uniqueinfo.spectrum.sums import tree
from uniqueinfo.types import Floats

_WHAT = "Sketch"


@dataclass(frozen=True, eq=False)
class SessionPasses:
    """Over all training samples: each pass is a task on every piece, and no more than a few sums are held."""

    session: Session
    pieces: Sequence[Piece]
    device: torch.device

    def mixtures(self, count: int, seed: int) -> Tensor:
        """See `Passes`."""
        return self._sum(_mixed, _Drawn(count, seed))

    def times_hessian(self, vectors: Tensor) -> Tensor:
        """See `Passes`."""
        return self._sum(_twice, vectors.contiguous())  # as when they were sent: other layouts round otherwise

    def outside(self, basis: Tensor) -> tuple[Floats, float]:
        """See `Passes`."""
        pieces = dict(enumerate(self.pieces))
        found = dict(shown(_WHAT, self.session.map(_left_outside, basis.contiguous(), pieces), sizes(pieces)))
        return np.concatenate([found[number][0] for number in pieces]), max(largest for _, largest in found.values())

    def _sum(self, task: Task[Floats], shared: Any) -> Tensor:
        parts = {number: [self.pieces[at] for at in group] for number, group in enumerate(groups(len(self.pieces)))}
        counts = {number: sum(map(len, part)) for number, part in parts.items()}
        found = dict(shown(_WHAT, self.session.sums(task, shared, parts), counts))
        leaf: Callable[[int], Floats] = found.pop
        return torch.from_numpy(tree(list(parts), leaf, operator.iadd)).to(self.device)


@dataclass(frozen=True)
class _Drawn:
    """How many random mixtures, and of which seed."""

    count: int
    seed: int


def _mixed(sources: Sources, drawn: _Drawn, piece: Piece) -> Floats:
    """A task: the mixtures of a piece."""
    chunk = sources.train.read(piece.index)
    assert chunk.rows is not None
    return _numpy(mixed(chunk.rows, chunk.residual, piece.first, drawn.count, drawn.seed))


def _twice(sources: Sources, vectors: Tensor, piece: Piece) -> Floats:
    """A task: the curvature of a piece along vectors."""
    chunk = sources.train.read(piece.index)
    assert chunk.rows is not None
    return _numpy(twice(chunk.rows, vectors.to(chunk.rows.device)))


def _left_outside(sources: Sources, basis: Tensor, piece: Piece) -> tuple[Floats, float]:
    """A task: what a basis leaves out of the rows of a piece."""
    chunk = sources.train.read(piece.index)
    assert chunk.rows is not None
    return left_outside(chunk.rows, basis.to(chunk.rows.device))


def _numpy(found: Tensor) -> Floats:
    plain: Floats = found.cpu().numpy()
    return plain
