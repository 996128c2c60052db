"""Streams from arrays: features with labels, or Jacobian rows with residuals, in memory or in files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.samples.encoding import Encoding
from uniqueinfo.samples.stored import as_array, is_parquet, parquet
from uniqueinfo.scoring.sources import FeatureSource, JacobianSource, Sources
from uniqueinfo.spectrum.rows import slices


def feature_sources(
    X: Any, y: Any, X_val: Any, y_val: Any, classes: Iterable[Any] | None, device: str | None
) -> tuple[Sources, Encoding]:
    """Features (n, p) and labels; with Parquet, `y` may name the column of the labels in the same files."""
    column = y if is_parquet(X) and isinstance(y, str) and not Path(y).exists() else None
    features, labels = _opened("X", X, "y", y, column)
    encoding = _encoding(labels, classes)
    outputs = encoding.outputs(labels.shape)
    train = FeatureSource(features, labels, encoding, outputs, "X", device)
    if X_val is None:
        if y_val is not None:
            raise InputError("y_val: there are validation labels but no X_val to go with them")
        return Sources(train), encoding
    features_val, labels_val = _opened("X_val", X_val, "y_val", y_val, column if is_parquet(X_val) else None)
    if features_val.shape[1] != features.shape[1]:
        raise InputError(f"X_val: has {features_val.shape[1]} features, and X has {features.shape[1]}")
    return Sources(train, FeatureSource(features_val, labels_val, encoding, outputs, "X_val", device)), encoding


def jacobian_sources(J: Any, residual: Any, J_val: Any, residual_val: Any, initial: Any, device: str | None) -> Sources:
    """Rows (n, k, D), residuals (n, k), initial outputs (n, k)."""
    train = _jacobian("J", J, "residual", residual, initial, device)
    if J_val is None:
        return Sources(train)
    val = _jacobian("J_val", J_val, "residual_val", residual_val, None, device)
    if (val.per_sample, val.width) != (train.per_sample, train.width):
        raise InputError(
            f"J_val: expected {train.per_sample} × {train.width} per sample, as in J, "
            f"got {val.per_sample} × {val.width}"
        )
    return Sources(train, val)


def _opened(name: str, X: Any, label: str, y: Any, column: str | None) -> tuple[Any, Any]:
    features: Any = as_array(name, X) if column is None else parquet(Path(X), label=column)
    labels: Any = None if y is None else as_array(label, y) if column is None else parquet(Path(X), only=column)
    if len(features.shape) != 2 or 0 in features.shape:
        raise InputError(f"{name}: expected an array (samples, features), got shape {tuple(features.shape)}")
    if isinstance(labels, Tensor):
        labels = labels.detach().cpu().numpy()
    if labels is not None and len(labels) != len(features):
        raise InputError(f"{label}: expected one label for each of the {len(features)} samples, got {len(labels)}")
    return features, labels


def _encoding(labels: Any, classes: Iterable[Any] | None) -> Encoding:
    """As of all labels at once, looking at some at a time."""
    first = np.asarray(labels[:1])
    if classes is not None or first.dtype.kind == "f":
        return Encoding.infer(first, classes)
    found: list[NDArray[Any]] = []
    for part in slices(len(labels), 8):
        some = np.asarray(labels[part])
        found = [np.unique(np.concatenate([*found, np.unique(some.astype(str) if some.dtype.kind == "O" else some)]))]
    return Encoding.infer(found[0], None)


def _jacobian(name: str, J: Any, label: str, residual: Any, initial: Any, device: str | None) -> JacobianSource:
    rows = as_array(name, J)
    if len(rows.shape) != 3 or 0 in rows.shape:
        raise InputError(f"{name}: expected an array (samples, outputs, parameters), got shape {tuple(rows.shape)}")
    given = {label: residual, "initial": initial}
    arrays = {key: None if value is None else as_array(key, value) for key, value in given.items()}
    for key, array in arrays.items():
        if array is not None and tuple(array.shape) != tuple(rows.shape[:2]):
            raise InputError(f"{key}: expected shape {tuple(rows.shape[:2])}, as {name} has, got {tuple(array.shape)}")
    return JacobianSource(rows, arrays[label], arrays["initial"], name, device)
