"""Every data set by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data import blended, cifar, digits, photos, reviews
from uniqueinfo.experiments.data.dataset import Dataset

DATASETS: dict[str, Callable[[Path | None], Dataset[Any]]] = {
    "mnist_4v9": digits.mnist_4v9,
    "mnist_10c": digits.mnist_10c,
    "uci_digits": digits.uci_digits,
    "mnist_on_photos": blended.mnist_on_photos,
    "svhn": digits.svhn,
    "emnist_letters": digits.emnist_letters,
    "cats_dogs": photos.cats_dogs,
    "cassava": photos.cassava,
    "pets_vs_deer": cifar.pets_vs_deer,
    "imdb": reviews.imdb,
}


def load(name: str, folder: Path | None) -> Dataset[Any]:
    """A data set from a folder: from its packed file if it is there, else in its original format."""
    if name not in DATASETS:
        raise InputError(f"there is no data set {name!r}; there are: {', '.join(DATASETS)}")
    return DATASETS[name](folder)
