"""Arrays as users hand them over, in memory or in files, opened and checked → sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.samples.checks import check_finite, check_labelled
from uniqueinfo.samples.datasets import is_hugging_face
from uniqueinfo.samples.frames import FrameColumns
from uniqueinfo.samples.hugging_face import opened
from uniqueinfo.samples.stored import Columns, as_array, is_parquet, parquet
from uniqueinfo.samples.targets import Encoding, check_several, column_names, given_labels
from uniqueinfo.scoring.head import Head, balanced_start, check_head, typical_length
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.sources import FeatureSource, JacobianSource
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.training.loss_names import SQUARED, LossFunction


@dataclass(frozen=True, eq=False)
class GivenFeatures:
    """Features with labels, and validation features with or without."""

    X: Any
    y: Any
    X_val: Any = None
    y_val: Any = None
    classes: Iterable[Any] | None = None
    names: tuple[str, ...] | None = None
    """Of several labels, or numbers, of each sample; those of the columns of y where it is a table."""

    def sources(self, head: Head, device: torch.device | str | None, loss: str | LossFunction = SQUARED) -> Sources:
        """`loss`: what training makes small, which says where a head starts.

        With Parquet, `y` may name the column of the labels in the same files.
        """
        check_head(head)
        if is_hugging_face(self.X, "Dataset") or is_hugging_face(self.X, "DatasetDict"):
            return self._of_hugging_face().sources(head, device, loss)
        column = self.y if is_parquet(self.X) and isinstance(self.y, str) and not Path(self.y).exists() else None
        table = self._table(column)
        features, labels = _features("X", self.X, "y", self.y, column, table)
        if labels is None:
            raise InputError("y: there are no labels to train towards; hand some over")
        encoding = replace(_encoding(labels, self.classes), columns=self.names or column_names(self.y))
        outputs = encoding.outputs(tuple(labels.shape))
        common: dict[str, Any] = {
            "encoding": encoding,
            "start": np.zeros(outputs) if head == "paper" else balanced_start(encoding, labels, outputs, loss),
            "intercept": 0.0 if head == "paper" else typical_length(features),
            "place": None if device is None else torch.device(device),
        }
        train = FeatureSource(
            X=features, y=labels, name="X", label="y", checked=_checked("X", features), table=table, **common
        )
        if self.X_val is None:
            if self.y_val is not None:
                raise InputError("y_val: there are validation labels but no X_val to go with them")
            return Sources(train)
        features_val, labels_val = _features(
            "X_val", self.X_val, "y_val", self.y_val, self._label_of_val(column), table
        )
        if features_val.shape[1] != features.shape[1]:
            raise InputError(
                f"X_val: expected {features.shape[1]} features, as X has, got {features_val.shape[1]}; make them alike"
            )
        if labels_val is not None and tuple(labels_val.shape[1:]) != tuple(labels.shape[1:]):
            raise InputError(
                f"y_val: is of shape {tuple(labels_val.shape)}, and y of shape {tuple(labels.shape)}; give labels of "
                "one kind"
            )
        seen = _checked("X_val", features_val)
        val = FeatureSource(X=features_val, y=labels_val, name="X_val", label="y_val", checked=seen, **common)
        return Sources(train, val)

    def _of_hugging_face(self) -> GivenFeatures:
        """Data sets as features and labels; `y_val` is by default the column that `y` names."""
        X, y = opened("X", self.X, self.y)
        X_val, y_val = self.X_val, self.y_val
        if is_hugging_face(X_val, "Dataset"):
            named = y is not self.y and y_val is None
            X_val, y_val = opened("X_val", X_val, self.y if named else y_val)
        names = tuple(self.y) if y is not self.y and not isinstance(self.y, str) else None
        return GivenFeatures(X, y, X_val, y_val, self.classes, names)

    def _table(self, label: str | None) -> FrameColumns | None:
        """The columns that training knows, by their names; None where they have none."""
        if isinstance(self.X, pd.DataFrame):
            return FrameColumns.of("X", self.X)
        if is_parquet(self.X):
            found = Columns.of(Path(self.X), label)
            return FrameColumns(found.names, {}, known=found.known)
        return None

    def _label_of_val(self, column: str | None) -> str | None:
        """The label column of validation files: the training files' own, where they have it or must."""
        if column is None or not is_parquet(self.X_val):
            return None
        return column if self.y_val is not None or column in Columns.of(Path(self.X_val)).names else None


def jacobian_sources(
    J: tuple[Any, Any, Any], J_val: tuple[Any, Any] | None, device: torch.device | str | None
) -> Sources:
    """Rows (n, k, D), residuals (n, k) and initial outputs (n, k); of validation samples rows and residuals."""
    train = _jacobian("J", J[0], {"residual": J[1], "initial": J[2]}, device)
    if J_val is None:
        return Sources(train)
    val = _jacobian("J_val", J_val[0], {"residual_val": J_val[1], "initial_val": None}, device)
    if (val.per_sample, val.width) != (train.per_sample, train.width):
        raise InputError(
            f"J_val: expected {train.per_sample} × {train.width} per sample, as in J, "
            f"got {val.per_sample} × {val.width}"
        )
    return Sources(train, val)


def _features(name: str, X: Any, label: str, y: Any, column: str | None, table: FrameColumns | None) -> tuple[Any, Any]:
    """`column`: of the labels, in the same Parquet files; `table`: the columns that training knows."""
    features: Any
    if isinstance(X, pd.DataFrame):
        if table is None:
            raise InputError(
                f"{name}: is a table, and X has no names of columns to match its own with; make both tables, or hand "
                f"over {name}.to_numpy() with the columns in the order of X"
            )
        features = table(name, X)
    elif is_parquet(X) and table is not None:
        features = table.stored(Path(X), column)
    else:
        features = as_array(name, X)
    labels: Any = None if y is None else parquet(Path(X), only=column) if column else given_labels(label, y)
    if labels is not None and column is None:
        labels = as_array(label, labels)
    _check_array(name, features, ("samples", "features"))
    if isinstance(labels, Tensor):
        labels = labels.detach().cpu().numpy()
    if labels is not None and (not labels.shape or labels.shape[0] != features.shape[0]):
        raise InputError(
            f"{label}: expected one label for each of the {features.shape[0]} samples, got shape {tuple(labels.shape)}"
        )
    return features, labels


def _encoding(labels: Any, classes: Iterable[Any] | None) -> Encoding:
    """As of all labels at once, looking at some at a time."""
    first = np.asarray(labels[:1])
    if first.dtype.kind == "f" or classes is not None:
        return Encoding.infer(first, classes)
    if first.ndim > 1:
        for part in slices(len(labels), 8 * first.size):
            check_several("y", np.asarray(labels[part]))
        return Encoding(None)
    found: list[NDArray[Any]] = []
    for part in slices(len(labels), 8):
        some = np.asarray(labels[part])
        check_labelled("y", some, part.start)
        found = [np.unique(np.concatenate([*found, np.unique(some.astype(str) if some.dtype.kind == "O" else some)]))]
    return Encoding.infer(found[0], None)


def _jacobian(name: str, J: Any, given: dict[str, Any], device: torch.device | str | None) -> JacobianSource:
    rows = as_array(name, J)
    _check_array(name, rows, ("samples", "outputs", "parameters"))
    arrays = {key: None if value is None else _column(as_array(key, value), rows) for key, value in given.items()}
    for key, array in arrays.items():
        if array is not None and tuple(array.shape) != tuple(rows.shape[:2]):
            raise InputError(
                f"{key}: expected shape {tuple(rows.shape[:2])}, as {name} has {rows.shape[0]} samples; "
                f"got {tuple(array.shape)}"
            )
    residual, initial = arrays.values()
    if residual is None and name == "J":
        raise InputError("residual: there is none to train towards; give targets − initial outputs, (samples, outputs)")
    for key, array in arrays.items():
        if isinstance(array, np.ndarray) and array.dtype.kind not in "fiub":
            raise InputError(f"{key}: expected numbers, got {array.dtype}")
    place = None if device is None else torch.device(device)
    return JacobianSource(rows, residual, initial, name=name, place=place, checked=_checked(name, rows))


def _checked(name: str, array: Any) -> bool:
    """Look at every number of an array in memory now; those of files are looked at when they are read."""
    if not isinstance(array, np.ndarray | Tensor) or isinstance(array, np.memmap):
        return False
    for part in slices(len(array), 8 * int(np.prod(array.shape[1:]))):
        check_finite(name, array[part], None, part.start)
    return True


def _column(array: Any, rows: Any) -> Any:
    """A plain vector is one column."""
    return array[:, None] if len(array.shape) == 1 and rows.shape[1] == 1 and hasattr(array, "reshape") else array


def _check_array(name: str, array: Any, dims: tuple[str, ...]) -> None:
    shape = tuple(array.shape)
    if len(shape) != len(dims):
        raise InputError(f"{name}: expected an array ({', '.join(dims)}), got shape {shape}")
    if 0 in shape:
        raise InputError(f"{name}: is empty (shape {shape}); it needs at least one of: {', '.join(dims)}")
    if isinstance(array, np.ndarray) and array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected numbers, got {array.dtype}")
