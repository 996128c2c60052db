"""Handwritten and photographed digits, packed or as published: MNIST, EMNIST letters (IDX), SVHN (.mat), UCI digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data.dataset import Dataset, Part, split_in_two
from uniqueinfo.experiments.data.files import arrays, find, find_all, missing
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.runs.readers.arrays import idx_array as read_idx

_IDX = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
_LETTERS = "emnist-letters-{}-images-idx3-ubyte", "emnist-letters-{}-labels-idx1-ubyte"
_SVHN = {"train": "train_32x32.mat", "test": "test_32x32.mat"}
_MNIST_WHERE = "MNIST's four IDX files, as they come or with .gz"


def mnist_4v9(folder: Path | None) -> Dataset[Pixels]:
    """Fours (class 0) against nines (class 1): 1000 + 1000 of the training set, and all of the test set."""
    packed = None if folder is None else find(folder, "mnist_4v9.npz")
    if packed is not None:
        parts = {part: _packed(packed, part) for part in ("train", "val", "test")}
    else:
        whole = whole_mnist(folder, "mnist_4v9")
        pairs = {name: part.take(np.isin(part.labels, (4, 9))) for name, part in whole.items()}
        train, val = split_in_two(pairs["train"], 1000, 1000, seed=0)
        parts = {"train": train, "val": val, "test": pairs["test"]}
    classed = {name: part.relabelled((part.labels == 9).astype(np.int64)) for name, part in parts.items()}
    return Dataset("mnist_4v9", classed, ("4", "9"))


def mnist_10c(folder: Path | None) -> Dataset[Pixels]:
    """All ten digits: 1500 + 1500 of the training set."""
    packed = None if folder is None else find(folder, "mnist_10c.npz")
    if packed is not None:
        parts = {part: _packed(packed, part) for part in ("train", "val")}
    else:
        train, val = split_in_two(whole_mnist(folder, "mnist_10c")["train"], 1500, 1500, seed=0)
        parts = {"train": train, "val": val}
    return Dataset("mnist_10c", parts, tuple("0123456789"))


def emnist_letters(folder: Path | None) -> Dataset[Pixels]:
    """The 26 letters as EMNIST stores them: transposed."""
    packed = None if folder is None else find(folder, "emnist_letters_26c.npz")
    parts = {}
    for part in ("train", "test"):
        if packed is not None:
            held = _packed(packed, part)
            parts[part] = held.relabelled(held.labels - 1)
            continue
        names = [name.format(part) for name in _LETTERS]
        files = None if folder is None else find_all(folder, *names)
        if files is None:
            wanted = ["emnist_letters_26c.npz", " and ".join(names)]
            raise missing("emnist_letters", folder, wanted, "EMNIST's IDX files, with .gz or without")
        parts[part] = _part(read_idx(files[0]), read_idx(files[1]).astype(np.int64) - 1, part)
    return Dataset("emnist_letters", parts, tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def svhn(folder: Path | None) -> Dataset[Pixels]:
    """Digits of house numbers, 32 × 32 in colour: packed, or the cropped format, where the digit 0 is labelled 10."""
    packed = None if folder is None else find(folder, "svhn_10c.npz")
    if packed is not None:
        return Dataset("svhn", {part: _packed(packed, part) for part in _SVHN}, tuple("0123456789"))
    return Dataset("svhn", _cropped_svhn(folder), tuple("0123456789"))


def _cropped_svhn(folder: Path | None) -> dict[str, Part[Pixels]]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    parts = {}
    for part, name in _SVHN.items():
        file = None if folder is None else find(folder, name)
        if file is None:
            where = "SVHN's cropped digits, http://ufldl.stanford.edu/housenumbers"
            raise missing("svhn", folder, ["svhn_10c.npz", name], where)
        try:
            held = loadmat(file)
            pictures, labels = held["X"], held["y"].ravel().astype(np.int64) % 10
        except (MatReadError, ValueError, KeyError, NotImplementedError, TypeError) as error:
            raise InputError(f"{file}: is not SVHN's cropped format, X and y in a .mat ({error})") from error
        parts[part] = _part(np.ascontiguousarray(np.moveaxis(pictures, 3, 0)), labels, part)
    return parts


def uci_digits(folder: Path | None = None) -> Dataset[Pixels]:
    """The 8 × 8 digits that come with scikit-learn (the UCI test set): 17 gray levels, in random halves."""
    from sklearn.datasets import load_digits

    held = load_digits()
    pictures = np.round(held.images * (255 / 16)).astype(np.uint8)
    train, val = split_in_two(_part(pictures, held.target, "digit"), 1000, 797, seed=0)
    return Dataset("uci_digits", {"train": train, "val": val}, tuple("0123456789"))


def whole_mnist(folder: Path | None, dataset: str) -> dict[str, Part[Pixels]]:
    """MNIST as it is published, `train` and `test`, for the data set that is made of it."""
    if folder is not None and (packed := find(folder, "mnist_full.npz")) is not None:
        return {part: _packed(packed, part, indexed=False) for part in ("train", "test")}
    parts = {}
    for part, names in _IDX.items():
        files = None if folder is None else find_all(folder, *names)
        if files is None:
            wanted = [f"{dataset}.npz", "mnist_full.npz", " and ".join(names)]
            raise missing(dataset, folder, wanted, _MNIST_WHERE)
        parts[part] = _part(read_idx(files[0]), read_idx(files[1]), part)
    return parts


def _packed(path: Path, part: str, indexed: bool = True) -> Part[Pixels]:
    names = [f"x_{part}", f"y_{part}"] + ([f"i_{part}"] if indexed else [])
    pictures, labels, *rows = arrays(path, *names)
    return _part(pictures, labels, "row", rows[0] if rows else None)


def _part(pictures: NDArray[Any], labels: NDArray[Any], prefix: str, rows: NDArray[Any] | None = None) -> Part[Pixels]:
    numbers = np.arange(len(labels)) if rows is None else rows
    return Part(Pixels(pictures), labels.astype(np.int64), np.array([f"{prefix} {row}" for row in numbers]))
