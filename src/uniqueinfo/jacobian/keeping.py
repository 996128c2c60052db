"""Where Jacobian rows stay between two passes that need them: in memory, on disk, or nowhere.

Computing them again costs the network's time once more; keeping them costs 4·n·k·D bytes, on disk written once and read
once. Which is cheaper is found out by a short trial.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.memory import as_text
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.types import Floats, Labels

KIND = "Jacobian rows"
_TRIAL = 8 * 2**20  # bytes written to see how fast the disk is


@dataclass(frozen=True, eq=False)
class Computed:
    """What a network gave for some samples."""

    rows: NDArray[np.float32]
    """Jacobian rows, (samples, k, D)."""
    outputs: Floats
    """(samples, k)."""
    labels: Labels


class Keeper(Protocol):
    """Keeps the pieces of a data set, by their numbers."""

    def get(self, number: int, of: Callable[[], str]) -> Computed | None:
        """A piece that was put before; `of` is a mark of what it is made from."""

    def put(self, number: int, of: Callable[[], str], piece: Computed) -> None:
        """Keep a piece."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """Pieces of this process."""

    pieces: dict[int, Computed] = field(default_factory=dict)

    def get(self, number: int, of: Callable[[], str]) -> Computed | None:
        """What was put: nobody else can change it."""
        return self.pieces.get(number)

    def put(self, number: int, of: Callable[[], str], piece: Computed) -> None:
        """Held."""
        self.pieces[number] = piece


@dataclass(frozen=True)
class OnDisk:
    """Pieces in a folder: those that are damaged, or of other samples or another network, are as good as absent."""

    folder: OwnedFolder

    def get(self, number: int, of: Callable[[], str]) -> Computed | None:
        """Looks at the samples again, to know that they are the same."""
        if not self.folder.has(f"{_name(number)}.safetensors"):
            return None
        found = self.folder.read_arrays(_name(number), of())
        return None if found is None else Computed(found["rows"], found["outputs"], found.get("labels"))

    def put(self, number: int, of: Callable[[], str], piece: Computed) -> None:
        """In a file of its own."""
        arrays: dict[str, NDArray[Any]] = {"rows": piece.rows, "outputs": piece.outputs}
        if piece.labels is not None:
            arrays["labels"] = piece.labels
        self.folder.write_arrays(_name(number), arrays, of())


@dataclass(frozen=True)
class KeepingPlan:
    """What keeping rows on disk costs, and what computing them again: on this machine, as busy as it is now."""

    computing: float
    """Seconds that computing all rows takes once."""
    moving: float
    """Seconds that writing and reading them takes."""
    bytes: int
    free: int
    keep: bool

    @classmethod
    def of(cls, size: int, computing: float, folder: Path, keep: bool | None) -> KeepingPlan:
        """For so many bytes in a folder; chooses the cheaper way unless one is asked for."""
        place = next(each for each in (folder, *folder.resolve().parents) if each.is_dir())
        moving, free = size * _seconds_per_byte(place), shutil.disk_usage(place).free
        if keep and size > free:
            raise InputError(
                f"keep: the Jacobian rows take {as_text(size)} and {folder} has {as_text(free)} free: name another "
                "folder, project on fewer columns, or let them be computed twice with keep=False"
            )
        cheaper = moving < computing and size < free / 2
        return cls(computing, moving, size, free, cheaper if keep is None else keep)

    def lines(self) -> list[str]:
        """For people."""
        ways = {
            True: f"keep: {as_text(self.bytes)} on disk ({as_text(self.free)} free), {self.moving:.0f} s to write and "
            f"read, and {self.computing:.0f} s to compute once",
            False: f"compute twice: nothing on disk, {2 * self.computing:.0f} s",
        }
        return [f"Jacobian rows, {'chosen' if way == self.keep else 'or'}: {text}" for way, text in ways.items()]


def _name(number: int) -> str:
    return f"rows-{number:06}"


def _seconds_per_byte(folder: Path) -> float:
    """Of writing and reading back, from a short trial."""
    some = np.random.default_rng(0).bytes(_TRIAL)
    with tempfile.TemporaryFile(dir=folder) as trial:
        started = time.perf_counter()
        trial.write(some)
        trial.flush()
        os.fsync(trial.fileno())
        trial.seek(0)
        trial.read()
        return (time.perf_counter() - started) / _TRIAL
