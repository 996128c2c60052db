"""Data sets of Hugging Face as features and labels, and with scores among their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from uniqueinfo.errors import InputError, known_names
from uniqueinfo.samples.datasets import LABEL_COLUMNS, is_hugging_face
from uniqueinfo.samples.stored import columns_as_array


def opened(name: str, dataset: Any, y: Any) -> tuple[Any, Any]:
    """Features and labels of a data set: `y` names its label column, or several; else all columns are features.

    One column of lists is a matrix of features; otherwise columns are numbers and categories, as of a table. Classes
    that have names go by these. Anything but a data set of Hugging Face is left as it is.
    """
    if is_hugging_face(dataset, "DatasetDict"):
        raise InputError(f"{name}: holds several data sets; choose one of {sorted(dataset)}")
    if is_hugging_face(dataset, "IterableDataset"):
        raise InputError(f"{name}: is a stream, which has no samples to index; load the data set without streaming")
    if not is_hugging_face(dataset, "Dataset"):
        return dataset, y
    labels = [y] if isinstance(y, str) else list(y) if _are_names(y) else []
    for label in labels:
        if label not in dataset.column_names:
            raise InputError(f"y: {name} has no column {label!r}; {known_names(label, dataset.column_names)}")
    features = [column for column in dataset.column_names if column not in labels]
    if not features:
        raise InputError(f"{name}: there is no column beside the labels; give features")
    table = dataset.with_format("arrow").select_columns(features)[:]
    first = columns_as_array(table, features[:1])
    if len(features) == 1 and first.ndim == 2:
        return first, _labels(dataset, labels) if labels else y
    wide = [column for column in features if pa.types.is_nested(table[column].type)]
    if wide:
        raise InputError(
            f"{name}: column {wide[0]!r} is no number or category, and there are others beside it; keep a column of "
            f"lists alone (.select_columns), or leave it out; there are {', '.join(features)}"
        )
    return table.to_pandas(), _labels(dataset, labels) if labels else y


def with_columns(dataset: Any, columns: Mapping[str, Any], labels: NDArray[Any] | None, prefix: str) -> Any:
    """The data set with these columns after its own; one of other samples is refused as far as it can be seen."""
    if not is_hugging_face(dataset, "Dataset"):
        raise InputError(f"dataset: expected a datasets.Dataset, got {type(dataset).__name__}")
    size = len(next(iter(columns.values())))
    if len(dataset) != size:
        raise InputError(
            f"dataset: has {len(dataset):,} rows, and there are scores of {size:,}; hand over the one that was scored, "
            "or select its rows: dataset.select(scores.names)"
        )
    named = {prefix + name: column for name, column in columns.items()}
    clash = sorted(set(named) & set(dataset.column_names))
    if clash:
        raise InputError(f"dataset: has columns {', '.join(clash)} already; name a prefix=… for the scores' own")
    _check_same(dataset, labels)
    for name, column in named.items():
        dataset = dataset.add_column(name, list(column) if column.ndim > 1 else column)
    return dataset


def _check_same(dataset: Any, labels: NDArray[Any] | None) -> None:
    held = [name for name in LABEL_COLUMNS if name in dataset.column_names]
    if labels is None or len(held) != 1 or labels.ndim != 1:
        return
    own = _column(dataset, held[0])
    if own.dtype.kind in "iu" and labels.dtype.kind not in "iub":
        own = _named(dataset.features[held[0]], own)
    if own.shape != labels.shape:
        return
    wrong = np.flatnonzero(own.astype(str) != labels.astype(str) if own.dtype.kind in "UO" else own != labels)
    if len(wrong):
        raise InputError(
            f"dataset: row {wrong[0]} has label {own[wrong[0]]}, and what was scored there {labels[wrong[0]]}; hand "
            "over the data set in the order in which it was scored"
        )


def _labels(dataset: Any, names: list[str]) -> Any:
    if len(names) == 1:
        return _named(dataset.features[names[0]], _column(dataset, names[0]))
    return np.column_stack([_column(dataset, name) for name in names])


def _column(dataset: Any, name: str) -> NDArray[Any]:
    """By way of Arrow: the data set's own arrays are rounded to single precision."""
    return columns_as_array(dataset.with_format("arrow").select_columns([name])[:], [name])


def _named(feature: Any, numbers: NDArray[Any]) -> NDArray[Any]:
    """Classes by their names, where they have any."""
    names = getattr(feature, "names", None)
    if names is None or numbers.ndim != 1:
        return numbers
    unknown = np.flatnonzero((numbers < 0) | (numbers >= len(names)))
    if len(unknown):
        raise InputError(f"y: sample {unknown[0]} has label {numbers[unknown[0]]}, which names no class; leave it out")
    found: NDArray[Any] = np.array(names)[numbers]
    return found


def _are_names(y: Any) -> bool:
    return isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)
