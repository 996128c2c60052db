"""Samples cut into pieces, and the tasks on them that engines run: functions of a module, so that they can be sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from uniqueinfo.linearization.source import Source
from uniqueinfo.progress import progress
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.types import Index

Name = Literal["train", "val"]

_MOST_GROUPS = 16  # of partitions, whose sums are kept on disk while a run goes on


@dataclass(frozen=True, eq=False)
class Sources:
    """Training samples and, if there are any, validation samples: what an engine is given to work on."""

    train: Source
    val: Source | None = None

    def named(self, name: Name) -> Source:
        """One of the two."""
        source = self.train if name == "train" else self.val
        assert source is not None
        return source

    def names(self) -> tuple[Name, ...]:
        """Those that are there."""
        return ("train",) if self.val is None else ("train", "val")


@dataclass(frozen=True, eq=False)
class Piece:
    """Some of the training, or of the validation, samples."""

    name: Name
    index: Index

    @property
    def first(self) -> int:
        """The number of its first sample."""
        return int(self.index.start if isinstance(self.index, slice) else self.index[0])

    def __len__(self) -> int:
        return self.index.stop - self.index.start if isinstance(self.index, slice) else len(self.index)


def digest_of(sources: Sources, _: None, piece: Piece) -> str:
    """A task: the digest of a piece."""
    assert isinstance(piece.index, slice)
    return sources.named(piece.name).digest(piece.index)


def sum_of(sources: Sources, _: None, piece: Piece) -> Sums:
    """A task: the sums of a piece; the moment has no columns where there are no targets."""
    found = sources.named(piece.name).read(piece.index)
    assert found.rows is not None
    return Sums.of(found.rows, None if found.targets is None else found.residual)


def groups(count: int) -> list[range]:
    """Whole subtrees of a tree of so many leaves: adding up their sums by the same rule gives the same tree.

    >>> groups(5), groups(33)[:2]
    ([range(0, 1), range(1, 2), range(2, 3), range(3, 4), range(4, 5)], [range(0, 4), range(4, 8)])
    """
    size = 1
    while count > size * _MOST_GROUPS:
        size *= 2
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def shown(what: str, found: Iterator[tuple[int, Any]], pieces: Mapping[int, int]) -> Iterator[tuple[int, Any]]:
    """What comes in, with a bar that counts its samples."""
    with progress(what, sum(pieces.values())) as advance:
        for number, result in found:
            yield number, result
            advance(pieces[number])


def sizes(pieces: Mapping[int, Piece]) -> dict[int, int]:
    """How many samples each piece holds."""
    return {number: len(piece) for number, piece in pieces.items()}
