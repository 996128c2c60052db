"""The samples at a path, whatever lies there."""

from __future__ import annotations

from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Data, Reading
from uniqueinfo.runs.readers.labels import check_training_labels
from uniqueinfo.runs.readers.reader import reader_of


def read(path: Path, reading: Reading, *, labelled: bool = True) -> Data:
    """Samples of a folder or file; `labelled=False` where labels may be missing, as in validation data."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; check the path")
    if path.suffix in (".pkl", ".pickle") and path.is_file():  # before any reader could take it for its own
        raise InputError(
            f"{path}: pickles can run code and are never opened; save arrays with np.savez(file, X=…, y=…)"
        )
    data = reader_of(path).read(path, reading, labelled)
    if labelled and reading.task != "generation":  # whole texts need no labels
        check_training_labels(path, data.labels)
    return data.without_labels() if reading.unlabelled else data
