"""Labels → the numbers a network is trained towards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Encoding:
    """How labels become targets: classes in order, or None for numbers as they are (regression).

    Two classes share one output, trained towards 0 and 1; more classes get one output each (one-hot).

    >>> Encoding.infer(np.array(["cat", "dog", "cat"]), None).encode("y", np.array(["dog", "cat"]))
    array([[1.],
           [0.]])
    >>> Encoding.infer(np.array([0, 1, 2]), None).encode("y", np.array([2]))
    array([[0., 0., 1.]])
    >>> Encoding.infer(np.array([0.5, 1.5]), None).encode("y", np.array([2.5]))
    array([[2.5]])
    """

    classes: NDArray[Any] | None

    @classmethod
    def infer(cls, labels: NDArray[Any], classes: Iterable[Any] | None) -> Encoding:
        """From the training labels: floats are regression, everything else names a class."""
        if classes is not None:
            named = np.asarray(list(classes))
            if len(np.unique(named)) < len(named) or len(named) == 0:
                raise InputError(f"classes: expected different class labels, got {named.tolist()}")
            return cls(named)
        if labels.dtype.kind == "f":
            return cls(None)
        if labels.dtype.kind == "O":
            labels = labels.astype(str)
        found = np.unique(labels)
        if labels.dtype.kind in "iub" and set(found.tolist()) <= {0, 1}:
            found = np.array([0, 1])  # 0 and 1 mean themselves, also where only one of them occurs
        return cls(found)

    def outputs(self, shape: tuple[int, ...]) -> int:
        """How many outputs labels of this shape train."""
        if self.classes is None:
            return int(np.prod(shape[1:]))
        return 1 if len(self.classes) <= 2 else len(self.classes)

    def encode(self, name: str, labels: NDArray[Any]) -> Floats:
        """Targets (samples, outputs); a label that is none of the classes is refused."""
        if self.classes is None:
            return labels.astype(np.float64).reshape(len(labels), -1)
        if labels.ndim != 1:
            raise InputError(f"{name}: class labels must be one per sample, got shape {labels.shape}")
        labels = labels.astype(str) if labels.dtype.kind == "O" else labels
        order = np.argsort(self.classes, kind="stable")
        at = order[np.searchsorted(self.classes[order], labels).clip(max=len(order) - 1)]
        unknown = np.flatnonzero(self.classes[at] != labels)
        if len(unknown):
            raise InputError(
                f"{name}: sample {unknown[0]} has label {labels[unknown[0]]!r}, which is none of the classes "
                f"{self.classes.tolist()}; name all classes with classes=…"
            )
        if len(self.classes) <= 2:
            return np.asarray(at[:, None], dtype=np.float64)
        return np.asarray(np.eye(len(self.classes))[at])


def as_labels(name: str, labels: Any, samples: int) -> NDArray[Any]:
    """One label (or row of targets) per sample, as an array."""
    array = np.asarray(labels.detach().cpu() if hasattr(labels, "detach") else labels)
    if array.ndim == 0 or len(array) != samples:
        raise InputError(f"{name}: expected one label for each of the {samples} samples, got shape {array.shape}")
    return array
