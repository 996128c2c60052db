"""Compute the rows of a network twice, or keep them on disk between the two passes: what each takes, and which it is.

The sums need every row, and so do the scores, which come after the eigenvectors. Computing again costs the network's
time once more; keeping costs 4·n·k·D bytes, written once and read once.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from uniqueinfo.errors import InputError
from uniqueinfo.memory import as_text
from uniqueinfo.scoring.network_source import NetworkSource
from uniqueinfo.scoring.sources import Sources

_TRIAL = 8 * 2**20  # bytes written to see how fast the disk is


@dataclass(frozen=True)
class RowsPlan:
    """Both ways with their costs: estimates for this machine as busy as it is now, with one worker."""

    computing: float
    """Seconds that computing all rows takes once."""
    moving: float
    """Seconds that writing and reading them takes."""
    bytes: int
    free: int
    keep: bool

    @classmethod
    def of(cls, source: NetworkSource, folder: Path, keep: bool | None) -> RowsPlan:
        """Measure, and choose the cheaper way unless one is asked for."""
        folder = next(place for place in (folder, *folder.resolve().parents) if place.is_dir())
        size = 4 * source.samples * source.per_sample * source.width
        moving, free = size * _seconds_per_byte(folder), shutil.disk_usage(folder).free
        computing = source.seconds * source.samples
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


def with_rows(
    sources: Sources, train: NetworkSource, place: Path | None, out: Path | None, keep: bool | None, *, tell: bool
) -> Sources:
    """The sources with the way of their rows chosen: in `place` if named, else beside the work in `out`."""
    if place is None and out is None:
        if keep:
            raise InputError("keep: rows need a place; name a folder, or a run folder with out=…")
        return sources
    folder = place if place is not None else Path(out or "") / "work" / "rows"
    plan = RowsPlan.of(train, folder, True if place is not None else keep)
    if tell:
        print("\n".join(plan.lines()), file=sys.stderr)
    return replace(sources, train=replace(train, keep=folder.resolve())) if plan.keep else sources


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
