"""Digits over photographs: a source of digits as varied as house numbers, made of MNIST and CIFAR-10."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from uniqueinfo.experiments.data.cifar import pets_vs_deer
from uniqueinfo.experiments.data.dataset import Dataset, Part, split_in_two
from uniqueinfo.experiments.data.digits import whole_mnist
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.runs.readers.images import square

_SIDE = 32


def mnist_on_photos(folder: Path | None) -> Dataset[Pixels]:
    """1500 + 1500 digits of MNIST's test set, each laid over a photograph of its own, in colour.

    Every channel is |photograph − digit|, as MNIST-M is made: a digit inverts what is behind it.
    """
    digits = split_in_two(whole_mnist(folder, "mnist_on_photos")["test"], 1500, 1500, seed=0)
    photos = split_in_two(pets_vs_deer(folder)["train"], 1500, 1500, seed=0)
    parts = {name: _over(*pair) for name, *pair in zip(("train", "val"), digits, photos, strict=True)}
    return Dataset("mnist_on_photos", parts, tuple("0123456789"))


def _over(digits: Part[Pixels], photos: Part[Pixels]) -> Part[Pixels]:
    count = min(len(digits), len(photos))
    digits, photos = digits.take(slice(count)), photos.take(slice(count))
    strokes = np.stack([np.asarray(square(digits.inputs[index], _SIDE)) for index in range(count)])
    blended = np.abs(photos.inputs.array.astype(np.int16) - strokes[..., None].astype(np.int16))
    names = np.array([f"{digit} on {photo}" for digit, photo in zip(digits.names, photos.names, strict=True)])
    return Part(Pixels(blended.astype(np.uint8)), digits.labels, names)
