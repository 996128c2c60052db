"""The right reader for a path."""

from __future__ import annotations

from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Data, Reading


def read(path: Path, reading: Reading, *, labelled: bool = True) -> Data:
    """Samples of a folder or file; `labelled=False` where labels may be missing, as in validation data."""
    if path.is_dir():
        from uniqueinfo.runs.readers.images import read_images

        data = read_images(path, reading)
    elif not path.exists():
        raise InputError(f"{path}: there is no such file or folder; check the path")
    else:
        data = _read_file(path, reading, labelled)
    if labelled:
        from uniqueinfo.runs.readers.labels import check_training_labels

        check_training_labels(path, data.labels)
    return data


def _read_file(path: Path, reading: Reading, labelled: bool) -> Data:
    from uniqueinfo.runs.readers import arrays, tables

    if path.suffix in tables.SUFFIXES:
        return tables.read_table(path, reading, labelled=labelled)
    if path.suffix == ".npz":
        return arrays.read_npz(path, reading)
    if path.suffix == ".npy":
        return arrays.read_npy(path, reading)
    if path.suffix in (".pkl", ".pickle"):
        raise InputError(
            f"{path}: pickles can run code and are never opened; save arrays with np.savez(file, X=…, y=…)"
        )
    if arrays.is_idx(path):
        return arrays.read_idx(path, reading)
    raise InputError(
        f"{path}: of no known kind; give a folder of class folders of pictures, a .csv, .tsv, .parquet or .jsonl "
        "table, an .npz or .npy of arrays, or an IDX file"
    )
