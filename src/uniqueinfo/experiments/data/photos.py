"""Photographs: cats against dogs and cassava leaves, packed as JPEGs or in class folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data.dataset import Dataset, Part, split_in_two
from uniqueinfo.experiments.data.files import arrays, find, missing
from uniqueinfo.experiments.data.pictures import Jpegs, PictureFiles, Pictures

_ENDINGS = (".jpg", ".jpeg", ".png")


def cats_dogs(folder: Path | None) -> Dataset[Pictures]:
    """Kaggle's cats (class 0) against dogs (class 1), 1000 + 1000."""
    return _photos("cats_dogs", ("cat", "dog"), {"cats": 0, "cat": 0, "dogs": 1, "dog": 1}, folder)


def cassava(folder: Path | None) -> Dataset[Pictures]:
    """Leaves with one of four diseases, or healthy, in their natural mix, 1000 + 1000."""
    classes = ("cbb", "cbsd", "cgm", "cmd", "healthy")
    return _photos("cassava", classes, {name: number for number, name in enumerate(classes)}, folder)


def _photos(name: str, classes: tuple[str, ...], numbers: dict[str, int], folder: Path | None) -> Dataset[Pictures]:
    packed = None if folder is None else find(folder, f"{name}_224.npz")
    if packed is not None:
        return Dataset(name, _from_packed(packed), classes)
    home = None if folder is None else find(folder, name)
    if home is None or not home.is_dir():
        layout = f"{name}/<class>/*.jpg (or {name}/train/<class> and {name}/val/<class>)"
        raise missing(name, folder, [f"{name}_224.npz", layout], f"class folders named {', '.join(numbers)}")
    return Dataset(name, _from_folders(home, numbers), classes)


def _from_packed(path: Path) -> dict[str, Part[Pictures]]:
    stream, offset, labels, split, names = arrays(path, "jpeg", "offset", "label", "split", "name")
    parts: dict[str, Part[Pictures]] = {}
    for part in ("train", "val"):
        chosen = np.flatnonzero(split == part)
        jpegs = Jpegs(stream.astype(np.uint8, copy=False), offset.astype(np.int64, copy=False), chosen)
        parts[part] = Part(jpegs, labels[chosen].astype(np.int64), names[chosen].astype(np.str_))
    return parts


def _from_folders(home: Path, numbers: dict[str, int]) -> dict[str, Part[Pictures]]:
    """The folder's own train and val (or test), 1000 of each; where there are none, disjoint draws of all pictures."""
    others = find(home, "val", "test")
    if (home / "train").is_dir() and others is not None:
        return {
            "train": _class_folders(home / "train", numbers).draw(1000),
            "val": _class_folders(others, numbers).draw(1000),
        }
    train, val = split_in_two(_class_folders(home, numbers), 1000, 1000, seed=0)
    return {"train": train, "val": val}


def _class_folders(folder: Path, numbers: dict[str, int]) -> Part[Pictures]:
    found = [
        (path, numbers[home.name])
        for home in sorted(folder.iterdir())
        if home.name in numbers
        for path in sorted(home.rglob("*"))
        if path.suffix.lower() in _ENDINGS
    ]
    if not found:
        raise InputError(f"{folder}: holds no pictures in class folders named {', '.join(numbers)}; put them there")
    paths, labels = zip(*found, strict=True)
    names = np.array([path.relative_to(folder).as_posix() for path in paths])
    return Part(PictureFiles(paths), np.array(labels, dtype=np.int64), names)
