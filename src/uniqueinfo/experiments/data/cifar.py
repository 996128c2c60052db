"""Pets against deer from CIFAR-10: packed, or CIFAR's own binary batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data.dataset import Dataset, Part
from uniqueinfo.experiments.data.files import arrays, find, missing
from uniqueinfo.experiments.data.pictures import Pixels

_CAT, _DEER, _DOG = 3, 4, 5
_COUNTS = {_DEER: 4000, _DOG: 4000, _CAT: 200}
_NAMES = {_CAT: "cat", _DEER: "deer", _DOG: "dog"}
_BATCHES = [f"data_batch_{number}.bin" for number in range(1, 6)]
_RECORD = 1 + 3 * 32 * 32


def pets_vs_deer(folder: Path | None) -> Dataset[Pixels]:
    """4000 deer (class 0) against pets (class 1): 4000 dogs and 200 cats. Names begin with the animal.

    `test` holds every cat, deer and dog of CIFAR-10's own, `extra` up to 800 further cats.
    """
    packed = None if folder is None else find(folder, "cifar10_pets_vs_deer.npz")
    if packed is not None:
        parts = {part: _part(*arrays(packed, *(f"{kind}_{part}" for kind in "xyi"))) for part in ("train", "test")}
        pictures, rows = arrays(packed, "x_extra_cat", "i_extra_cat")
        parts["extra"] = _part(pictures, np.full(len(rows), _CAT), rows)
    else:
        parts = _from_batches(folder)
    return Dataset("pets_vs_deer", parts, ("deer", "pet"))


def animals(part: Part[Pixels]) -> NDArray[np.str_]:
    """Which animal each sample is: the sub-class its label does not tell."""
    return np.array([name.split()[0] for name in part.names])


def read_batch(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """One binary batch: records of a label and 3 × 32 × 32 bytes → pictures (n, 32, 32, 3) and labels."""
    content = np.fromfile(path, np.uint8)
    if len(content) == 0 or len(content) % _RECORD:
        raise InputError(f"{path}: {len(content)} bytes are not records of {_RECORD}; it is no batch of CIFAR-10")
    records = content.reshape(-1, _RECORD)
    pictures = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pictures), records[:, 0].astype(np.int64)


def _from_batches(folder: Path | None) -> dict[str, Part[Pixels]]:
    home = None if folder is None else find(folder, "cifar-10-batches-bin") or folder
    if home is None or not all((home / name).is_file() for name in (*_BATCHES, "test_batch.bin")):
        wanted = ["cifar10_pets_vs_deer.npz", "cifar-10-batches-bin/data_batch_1.bin … test_batch.bin"]
        raise missing("pets_vs_deer", folder, wanted, "CIFAR-10's binary version")
    batches = [read_batch(home / name) for name in _BATCHES]
    pictures, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    rng = np.random.default_rng(0)
    order = {animal: rng.permutation(np.flatnonzero(labels == animal)) for animal in _COUNTS}
    rows = rng.permutation(np.concatenate([order[animal][:count] for animal, count in _COUNTS.items()]))
    further = order[_CAT][_COUNTS[_CAT] :][:800]
    test_pictures, test_labels = read_batch(home / "test_batch.bin")
    test = np.flatnonzero(np.isin(test_labels, list(_COUNTS)))
    return {
        "train": _part(pictures[rows], labels[rows], rows),
        "test": _part(test_pictures[test], test_labels[test], test),
        "extra": _part(pictures[further], labels[further], further),
    }


def _part(pictures: NDArray[Any], animals: NDArray[Any], rows: NDArray[Any]) -> Part[Pixels]:
    names = np.array([f"{_NAMES[int(animal)]} {row}" for animal, row in zip(animals, rows, strict=True)])
    return Part(Pixels(pictures), (animals != _DEER).astype(np.int64), names)
