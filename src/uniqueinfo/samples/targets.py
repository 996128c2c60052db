"""Labels → the numbers a network is trained towards, by one rule.

Floats are regression: the numbers themselves. Anything else names a class. Two classes share one output, trained
towards 0 and 1; more classes get one output each (one-hot). A matrix of 0 and 1 says of every sample which of several
labels it has: each column is an output of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.samples.checks import check_finite, check_labelled, missing
from uniqueinfo.samples.stored import as_array
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
    columns: tuple[str, ...] | None = None
    """What several labels, or numbers, of each sample are called, where they have names."""

    @classmethod
    def infer(cls, labels: NDArray[Any], classes: Iterable[Any] | None) -> Encoding:
        """From the training labels: floats are regression, a matrix several labels, everything else names a class."""
        if classes is not None:
            if not isinstance(classes, Iterable) or isinstance(classes, str) or getattr(classes, "ndim", 1) == 0:
                raise InputError(f"classes: expected a list of class labels, got {classes!r}")
            named = as_array("classes", list(classes))
            if named.ndim != 1:
                raise InputError(f"classes: expected a list of class labels, got shape {named.shape}")
            if named.dtype.kind == "O":
                if missing(named).any():
                    raise InputError(
                        f"classes: expected class labels, and one of {named.tolist()} is none; leave it out"
                    )
                named = named.astype(str)
            if len(np.unique(named)) < len(named) or len(named) == 0:
                raise InputError(f"classes: expected different class labels, got {named.tolist()}")
            return cls(named)
        if labels.dtype.kind == "f" or labels.ndim > 1:
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

    def encode(self, name: str, labels: NDArray[Any], ids: Sequence[object] | None = None) -> Floats:
        """Targets (samples, outputs); a label that is none of the classes is refused. `ids` name samples in errors."""
        if self.classes is None:
            return labels.astype(np.float64).reshape(len(labels), -1)
        if labels.ndim != 1:
            raise InputError(f"{name}: class labels must be one per sample, got shape {labels.shape}")
        if labels.dtype.kind == "O":
            gone = np.flatnonzero(missing(labels))
            if len(gone):
                raise InputError(f"{name}: sample {_name(int(gone[0]), ids)} has no label; fill it in, or leave it out")
            labels = labels.astype(str)
        order = np.argsort(self.classes, kind="stable")
        at = order[np.searchsorted(self.classes[order], labels).clip(max=len(order) - 1)]
        unknown = np.flatnonzero(self.classes[at] != labels)
        if len(unknown):
            raise InputError(
                f"{name}: sample {_name(int(unknown[0]), ids)} has label {labels[unknown[0]]!r}, which is none of the "
                f"classes {self.classes.tolist()}; name all classes with classes=…"
            )
        return one_hot(at, 1 if len(self.classes) <= 2 else len(self.classes))


def given_labels(name: str, labels: Any) -> Any:
    """Labels as a user hands them over, as an array; one that is missing is refused, and never becomes a class.

    >>> given_labels("y", ["cat", None, "dog"])
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: y: sample 1 has no label; fill it in, or leave the sample out
    >>> given_labels("y", [["cat"], ["dog"]])  # one column is one label for each
    array(['cat', 'dog'], dtype='<U3')
    """
    check_labelled(name, labels)
    if isinstance(labels, list | tuple):
        found = as_array(name, labels)
    elif isinstance(labels, pd.Series | pd.DataFrame | pd.Index | pd.api.extensions.ExtensionArray):
        found = labels.to_numpy()
    else:
        found = labels
    if not isinstance(found, np.ndarray):
        return found  # a tensor, or a file that is read when it is needed
    if found.dtype.kind in "mM":
        raise InputError(f"{name}: labels are dates or times ({found.dtype}); give classes, or numbers to predict")
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 and found.dtype.kind != "f" else found


def column_names(labels: Any) -> tuple[str, ...] | None:
    """What a table of several labels for each sample calls them.

    >>> column_names(pd.DataFrame({"wet": [0, 1], "cold": [1, 1]})), column_names([0, 1])
    (('wet', 'cold'), None)
    """
    several = isinstance(labels, pd.DataFrame) and labels.shape[1] > 1
    return tuple(map(str, labels.columns)) if several else None


def check_several(name: str, labels: NDArray[Any]) -> None:
    """Refuse a matrix of labels, unless it says with 0 and 1 which of several labels each sample has.

    >>> check_several("y", np.array([[1, 0, 1], [0, 0, 1]]))
    """
    if labels.dtype.kind not in "bui" or not np.isin(labels, (0, 1)).all():
        raise InputError(
            f"{name}: labels of shape {labels.shape} are several for each sample; give one class for each, a matrix of "
            "0 and 1 that says which of several labels each has, or floats to predict several numbers"
        )


def as_labels(name: str, labels: Any, samples: int) -> NDArray[Any]:
    """One label (or row of targets) per sample, as an array."""
    array = np.asarray(labels.detach().cpu() if hasattr(labels, "detach") else labels)
    if array.ndim == 0 or len(array) != samples:
        raise InputError(f"{name}: expected one label for each of the {samples} samples, got shape {array.shape}")
    return array


def as_targets(labels: Any, outputs: int, ids: Sequence[object] | None = None) -> NDArray[np.float64]:
    """Targets (n, outputs): integer labels are classes, floats are regression; `ids` name samples in errors.

    A matrix of 0 and 1 is several labels of each sample.

    >>> as_targets([0.5, -2.0], outputs=1).tolist()
    [[0.5], [-2.0]]
    """
    labels = np.asarray(labels)
    if labels.dtype.kind in "bui" and labels.ndim == 2 and labels.shape[1] == outputs > 1:
        check_several("labels", labels)
        several: Floats = labels.astype(np.float64)
        return several
    if labels.dtype.kind in "bui":
        return one_hot(_class_numbers(labels, outputs, ids), outputs)
    if labels.dtype.kind != "f":
        raise InputError(f"labels are {labels.dtype}: give integers for classes or floats for regression")
    columns = labels.reshape(len(labels), -1)
    if columns.shape[1] != outputs:
        raise InputError(
            f"float targets of shape {labels.shape} do not fit a network of {outputs} outputs: "
            f"give ({len(labels)}, {outputs}) floats for regression, or integers for classes"
        )
    check_finite("the target", columns, ids)
    found: Floats = columns.astype(np.float64)
    return found


def say_unused(labels: Any, outputs: int) -> None:
    """Warn of a network with more outputs than there are classes: what is left over is trained towards 0."""
    if labels is None or labels.dtype.kind not in "bui" or labels.ndim != 1 or outputs == 1:
        return
    last = int(labels.max())
    if last + 1 < outputs:
        warnings.warn(
            f"the network has {outputs} outputs, and labels go from 0 to {last}: the other outputs are trained "
            "towards 0 and count in the scores; give the network as many outputs as there are classes",
            stacklevel=3,
        )


def one_hot(numbers: NDArray[Any], outputs: int) -> Floats:
    """Class c of `outputs` → 1 in column c, 0 elsewhere; with one output, class 0 or 1 itself.

    >>> one_hot(np.array([2, 0]), outputs=3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    >>> one_hot(np.array([1, 0]), outputs=1).tolist()
    [[1.0], [0.0]]
    """
    if outputs == 1:
        return numbers.astype(np.float64)[:, None]
    targets = np.zeros((len(numbers), outputs))
    targets[np.arange(len(numbers)), numbers.astype(np.intp)] = 1.0
    return targets


def _class_numbers(labels: NDArray[Any], outputs: int, ids: Sequence[object] | None) -> NDArray[Any]:
    """Class numbers that fit a network of so many outputs."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(
            f"class labels must be one integer for each sample, not {labels.dtype} of shape {labels.shape}; "
            f"give a matrix of 0 and 1 with {outputs} columns, one for each output, or floats for regression"
        )
    classes = max(outputs, 2)
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        first = int(np.argmax(outside))
        held = "one output holds the classes 0 and 1" if outputs == 1 else f"the network has {outputs} outputs"
        raise InputError(
            f"label {labels[first]} of sample {_name(first, ids)} is outside 0…{classes - 1}: {held}. "
            "Number the classes from 0, or give floats for regression"
        )
    return labels


def _name(position: int, ids: Sequence[object] | None) -> object:
    return position if ids is None else ids[position]
