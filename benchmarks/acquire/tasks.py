"""Pools of real data whose labels are bought one after the other, and the samples that accuracy is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uniqueinfo.experiments.data import Part, features, load
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Request
from uniqueinfo.types import Floats, Indices

_PIXELS = 128
"""A side of the photographs as ResNet-18 sees them."""


@dataclass(frozen=True, eq=False)
class Task:
    """Features of a pool and of test samples, every column with mean 0 and deviation 1 over the pool."""

    name: str
    X: Floats
    y: Indices
    X_test: Floats
    y_test: Indices

    @classmethod
    def of(cls, name: str, pool: tuple[Floats, Indices], test: tuple[Floats, Indices]) -> Task:
        mean, spread = pool[0].mean(axis=0), pool[0].std(axis=0)
        X, X_test = ((part[0] - mean) / np.where(spread > 0, spread, 1.0) for part in (pool, test))
        return cls(name, X, pool[1], X_test, test[1])

    def draw(self, count: int, rng: np.random.Generator) -> Task:
        """A part of the pool."""
        kept = rng.permutation(len(self.X))[:count]
        return Task(self.name, self.X[kept], self.y[kept], self.X_test, self.y_test)

    def first(self, count: int, rng: np.random.Generator) -> Indices:
        """Where all begin: as many of every class, drawn at random."""
        classes = np.unique(self.y)
        each = max(1, count // len(classes))
        return np.sort(np.concatenate([rng.permutation(np.flatnonzero(self.y == one))[:each] for one in classes]))


def tasks(data: Path, work: Path) -> dict[str, Task]:
    """Handwritten digits by their pixels, and two sets of photographs by ResNet-18's features."""
    digits = load("mnist_10c", data)
    found = [Task.of("MNIST digits, 196 pixels", *(_pixels(digits[part]) for part in ("train", "val")))]
    for name, title in (("cats_dogs", "cats and dogs, ResNet-18"), ("cassava", "cassava leaves, ResNet-18")):
        photos = load(name, data)
        found.append(Task.of(title, *(_seen(photos[part], data, work) for part in ("train", "val"))))
    return {task.name: task for task in found}


def small_task() -> Task:
    """UCI's digits, which scikit-learn brings: for tests, and to choose settings on."""
    digits = load("uci_digits", None)
    parts = [digits[part] for part in ("train", "val")]
    flat = [np.asarray(part.inputs.array, dtype=np.float64).reshape(len(part), -1) for part in parts]
    return Task.of("UCI digits", (flat[0], parts[0].labels), (flat[1], parts[1].labels))


def _pixels(part: Part[Any]) -> tuple[Floats, Indices]:
    """28 × 28 pixels, every four of them as their mean."""
    array = part.inputs.array.astype(np.float64)
    return array.reshape(len(array), 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(array), -1), part.labels


def _seen(part: Part[Any], data: Path, work: Path) -> tuple[Floats, Indices]:
    network = RESNET18.features(Request(data=data, work=work), _PIXELS)
    return features(network, part, RESNET18.preparation(_PIXELS), work).astype(np.float64), part.labels
