"""Finding a data set's files, or saying which were looked for and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError


def find(folder: Path, *names: str) -> Path | None:
    """The first of these files or folders that is there, each also looked for with .gz at its end."""
    candidates = [folder / (name + ending) for name in names for ending in ("", ".gz")]
    return next((path for path in candidates if path.exists()), None)


def find_all(folder: Path, *names: str) -> list[Path] | None:
    """All of these files, or None if one is missing."""
    found = [path for name in names if (path := find(folder, name)) is not None]
    return found if len(found) == len(names) else None


def missing(dataset: str, folder: Path | None, wanted: Sequence[str], where: str) -> InputError:
    """What to say when a data set is not there."""
    if folder is None:
        return InputError(
            f"{dataset}: no data folder is named; give one with --data, or in the variable UNIQUEINFO_DATA. "
            f"It should hold {' or '.join(wanted)} ({where})"
        )
    return InputError(
        f"{dataset}: found no {' and no '.join(wanted)} in {folder}; put one there ({where}), or name another folder "
        "with --data"
    )


def arrays(path: Path, *names: str) -> list[NDArray[np.generic]]:
    """Arrays of an .npz, each read once."""
    with np.load(path, allow_pickle=False) as file:
        absent = [name for name in names if name not in file.files]
        if absent:
            raise InputError(f"{path}: holds no array {absent[0]!r} but {', '.join(file.files)}; fetch it again")
        return [file[name] for name in names]
