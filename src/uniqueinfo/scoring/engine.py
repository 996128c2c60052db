"""The face of an engine, and the one that runs in this process."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from uniqueinfo.scoring.pieces import Piece, Sources
from uniqueinfo.spectrum.sums import tree
from uniqueinfo.threads import look_again

Result = TypeVar("Result")

Task = Callable[[Any, Any, Any], Result]
"""(sources, shared, piece) → result: a function of a module, so that it can be sent to other processes."""


class Session(Protocol):
    """An engine with samples in its hands, which every worker is sent once."""

    def sums(
        self, task: Task[Result], shared: Any, groups: Mapping[int, Sequence[Piece]]
    ) -> Iterator[tuple[int, Result]]:
        """`task` of every piece added up for each group, as they come in; within a group they are added by `tree`."""

    def map(self, task: Task[Result], shared: Any, pieces: Mapping[int, Piece]) -> Iterator[tuple[int, Result]]:
        """`task(sources, shared, piece)` of every piece, as they come in; every worker is sent `shared` once."""


@runtime_checkable
class Engine(Protocol):
    """Where partitions are worked on."""

    def open(self, sources: Sources) -> AbstractContextManager[Session]:
        """Make ready to work on these samples."""


@dataclass(frozen=True)
class LocalEngine:
    """This process: one partition after the other."""

    def open(self, sources: Sources) -> AbstractContextManager[Session]:
        """Nothing to make ready."""
        return nullcontext(Here(sources))


@dataclass(frozen=True, eq=False)
class Here:
    """A session of this process."""

    sources: Sources

    def sums(
        self, task: Task[Result], shared: Any, groups: Mapping[int, Sequence[Piece]]
    ) -> Iterator[tuple[int, Result]]:
        """See `Session`; in place, as nobody else holds what is added."""
        for number, pieces in groups.items():
            look_again()
            yield number, tree(pieces, lambda piece: task(self.sources, shared, piece), operator.iadd)

    def map(self, task: Task[Result], shared: Any, pieces: Mapping[int, Piece]) -> Iterator[tuple[int, Result]]:
        """See `Session`."""
        for number, piece in pieces.items():
            look_again()
            yield number, task(self.sources, shared, piece)
