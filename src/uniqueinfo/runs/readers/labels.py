"""Labels as they stand in a file → classes or numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Task
from uniqueinfo.samples.checks import listed
from uniqueinfo.samples.targets import check_several


def as_task(where: Path, labels: NDArray[Any], task: Task) -> NDArray[Any]:
    """Floats for regression, integers or strings for classes.

    >>> as_task(Path("t.csv"), np.array([1, 2]), "regression"), as_task(Path("t.csv"), np.array([1.0, 2.0]), "classes")
    (array([1., 2.]), array([1, 2]))
    """
    if labels.ndim > 2 or 0 in labels.shape:
        raise InputError(
            f"{where}: labels are of shape {labels.shape}; give one for each sample, or a row of them for each"
        )
    if labels.dtype.kind in "OS":
        labels = _as_names(where, labels)
    if labels.ndim == 2:
        return _several(where, labels, task)
    if labels.dtype.kind == "U":
        if task == "regression":
            raise InputError(f"{where}: the label {labels[0]!r} is not a number, as --task regression needs")
        return labels
    if labels.dtype.kind not in "buif":
        raise InputError(f"{where}: labels are {labels.dtype}; give names or integers for classes, or numbers")
    if labels.dtype.kind == "f":
        _check_there(where, labels)
    if task == "regression":
        return labels.astype(np.float64)
    if labels.dtype.kind == "f" and task == "classes":
        whole = labels.astype(np.int64)
        if (whole != labels).any():
            first = int(np.argmax(whole != labels))
            raise InputError(f"{where}: label {labels[first]} of row {first} is no class; drop --task classes")
        return whole
    return labels


def _as_names(where: Path, labels: NDArray[Any]) -> NDArray[np.str_]:
    """Names, where labels are bytes or Python objects."""
    try:
        return np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels.astype(str)
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: labels are bytes that are not UTF-8; save them as texts or numbers") from error


def _several(where: Path, labels: NDArray[Any], task: Task) -> NDArray[Any]:
    """A row of labels for each sample: numbers to predict; 0 and 1 for which of several it has; one-hot classes.

    >>> _several(Path("t.npz"), np.array([[0, 0, 1], [1, 0, 0]]), "auto")
    array([2, 0])
    >>> _several(Path("t.npz"), np.array([[1, 0, 1], [1, 0, 0]]), "auto")
    array([[1, 0, 1],
           [1, 0, 0]])
    """
    if labels.shape[1] == 1:
        return as_task(where, labels[:, 0], task)
    numbers = labels.dtype.kind == "f" or (task == "regression" and labels.dtype.kind in "bui")
    if not numbers:
        check_several(str(where), labels)
    if (not numbers or task == "classes") and np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all():
        return np.asarray(labels.argmax(axis=1))
    if task == "classes":
        raise InputError(
            f"{where}: --task classes: labels of shape {labels.shape} are several for each sample; give one class for "
            "each, or drop --task classes"
        )
    _check_there(where, labels)
    return labels.astype(np.float64 if numbers else np.int64)


def as_columns(where: Path, frame: pd.DataFrame, task: Task) -> NDArray[Any]:
    """Several label columns of a table: 0 and 1 (or true and false) for which of them each row has, or numbers.

    Columns of which every row has exactly one name classes.

    >>> as_columns(Path("t.csv"), pd.DataFrame({"wet": [0, 1, 1], "cold": [True, False, True]}), "auto").tolist()
    [[0, 1], [1, 0], [1, 1]]
    >>> as_columns(Path("t.csv"), pd.DataFrame({"wet": [0, 1], "dry": [1, 0]}), "auto").tolist()
    ['dry', 'wet']
    """
    strange = [str(name) for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    if strange:
        raise InputError(
            f"{where}: --label: {listed(strange)} of words; several label columns hold 0 and 1, or numbers to predict"
        )
    whole = all(bool((frame[name] % 1 == 0).all()) for name in frame if pd.api.types.is_float_dtype(frame[name]))
    yes_or_no = whole and bool(frame.isin([0, 1]).to_numpy().all())  # pandas gives empty cells' neighbours a point
    found = as_task(where, frame.to_numpy(dtype=np.int64 if yes_or_no else np.float64), task)
    return np.array([str(name) for name in frame])[found] if found.ndim == 1 else found


def _check_there(where: Path, labels: NDArray[Any]) -> None:
    bad = np.flatnonzero(~np.isfinite(labels.reshape(len(labels), -1)).all(axis=1))
    if len(bad):
        raise InputError(f"{where}: row {bad[0]} (counted from 0) has no label; fill it in or drop the row")


def check_training_labels(where: Path, labels: NDArray[Any] | None) -> None:
    """Refuse labels that there is nothing to learn from."""
    if labels is None:
        raise InputError(f"{where}: the training samples have no labels; name their column with --label")
    if labels.dtype.kind == "f":
        return
    if labels.ndim > 1:
        if (labels == labels[0]).all():
            raise InputError(f"{where}: all {len(labels)} samples have the same labels; add samples with others")
        return
    classes = np.unique(labels)
    if len(classes) == 1:
        raise InputError(f"{where}: all {len(labels)} samples are of class {classes[0]}; add samples of another class")
    if len(classes) > 20 and len(classes) > len(labels) / 2:
        raise InputError(
            f"{where}: the label has {len(classes)} different values in {len(labels)} samples, which are no classes; "
            "say --task regression if it is a number to predict, or name another --label"
        )


def check_known(where: Path, labels: NDArray[Any] | None, train: NDArray[Any], ids: NDArray[Any]) -> None:
    """Refuse validation labels that training knows nothing of; `ids` name the samples."""
    if labels is None:
        return
    if (labels.dtype.kind == "f") != (train.dtype.kind == "f"):
        raise InputError(
            f"{where}: labels are {labels.dtype} and those of the training data {train.dtype}; say what they are "
            "with --task classes or --task regression"
        )
    if labels.shape[1:] != train.shape[1:]:
        raise InputError(
            f"{where}: labels are of shape {labels.shape} and those of the training data {train.shape}; give labels of "
            "one kind"
        )
    if labels.dtype.kind == "f" or labels.ndim > 1:
        return
    classes = np.unique(train)
    strange = np.flatnonzero(~np.isin(labels.astype(str), classes.astype(str)))
    if len(strange):
        raise InputError(
            f"{where}: sample {ids[strange[0]]} has label {str(labels[strange[0]])!r}, which no training sample has "
            f"({', '.join(map(str, classes[:5]))}{', …' if len(classes) > 5 else ''}); mend it or leave it out"
        )
