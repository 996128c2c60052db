"""What a reader says of itself: what it reads, how it knows it, and when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Data, Reading
from uniqueinfo.store.declared import declared


class Turn(IntEnum):
    """When a reader is asked whether a path is its own; the surer it can be, the earlier."""

    by_name = 0
    by_content = 1
    what_is_left = 2
    """It takes what no other knows, such as any folder."""


@dataclass(frozen=True)
class Reader:
    """A reader of one kind of files or folders."""

    words: str
    """How a user is told what it reads, in "give a folder of pictures, an .npz of arrays, or …"."""
    recognises: Callable[[Path], bool]
    """Whether a path, which is there, is its own."""
    read: Callable[[Path, Reading, bool], Data]
    """The samples; the last argument says whether labels are needed, which is checked again afterwards."""
    turn: Turn = Turn.by_name


def suffixed(*suffixes: str) -> Callable[[Path], bool]:
    """Recognises files by the end of their names.

    >>> suffixed(".csv")(Path("nowhere.csv"))  # it is no file
    False
    """
    return lambda path: path.suffix in suffixes and path.is_file()


def readers() -> list[Reader]:
    """All there are, in their turns."""
    return sorted(declared("uniqueinfo.runs.readers", "READERS", Reader), key=lambda reader: reader.turn)


def reader_of(path: Path) -> Reader:
    """The reader whose path this is; refused, with all that can be read, where there is none."""
    found = readers()
    for turn in Turn:
        claims = [reader for reader in found if reader.turn == turn and reader.recognises(path)]
        if len(claims) > 1:
            words = " and as ".join(reader.words for reader in claims)
            raise TypeError(f"{path}: would be read as {words}; give one of these readers a later turn")
        if claims:
            return claims[0]
    *others, last = (reader.words for reader in found)
    raise InputError(f"{path}: of no known kind; give {', '.join(others)}, or {last}")
