"""The samples at a path, whatever lies there."""

from __future__ import annotations

from pathlib import Path

from uniqueinfo.errors import InputError, UniqueInfoError, cause
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
    if not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: is a pipe or a device, which is read once at most; write it to a file first")
    reader = reader_of(path)
    try:
        data = reader.read(path, reading, labelled)
    except UniqueInfoError:
        raise
    except Exception as error:  # whatever a library makes of a file that is damaged or odd
        raise InputError(
            f"{path}: cannot be read as {reader.words} ({cause(error)}); mend or convert it, or look with --debug"
        ) from error
    _check_names(data)
    if labelled and reading.task != "generation":  # whole texts need no labels
        check_training_labels(path, data.labels)
    return data.without_labels() if reading.unlabelled else data


def _check_names(data: Data) -> None:
    """Refuse names of files that are no text, as ids and pages are."""
    for path in data.files:
        if not _is_text(str(path)):
            raise InputError(f"{path}: its name is not UTF-8; rename it")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
