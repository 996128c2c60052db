"""A DataFrame of features → numbers: columns are known by their names, never by their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.samples.checks import check_columns, counted, listed
from uniqueinfo.samples.stored import Columns, parquet, parquet_files
from uniqueinfo.types import Floats

_MOST = 50  # different values of a column up to which it is taken for categories, however few the rows


@dataclass(frozen=True)
class FrameColumns:
    """What the columns of a table are: numbers as they stand, and categories, of which each value becomes a column.

    >>> columns = FrameColumns.of("X", pd.DataFrame({"size": [1.0, 3.0], "kind": ["a", "b"]}))
    >>> columns("X_val", pd.DataFrame({"kind": ["b", "c"], "size": [5.0, 2.0]}))
    array([[5., 0., 1.],
           [2., 0., 0.]])
    """

    numbers: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    """By column, the values that training knows; another one is none of them."""
    known: str = "X"
    """Where the columns were found, for errors."""

    @classmethod
    def of(cls, name: str, frame: pd.DataFrame) -> FrameColumns:
        """Of the training samples; columns that are neither are named, all at once."""
        check_columns(name, frame.columns.map(str), frame.columns.map(str), name)  # each once
        numbers = [str(column) for column in frame if pd.api.types.is_numeric_dtype(frame[column])]
        others = [str(column) for column in frame if str(column) not in numbers]
        frame = frame.rename(columns=str)
        strange = [column for column in others if not _is_category(frame[column])]
        if strange:
            raise InputError(
                f"{name}: {listed(strange)} neither numbers nor categories (dates, names, or a different value in "
                "almost every row); turn them into numbers, or drop them"
            )
        known = {column: tuple(sorted(frame[column].dropna().astype(str).unique())) for column in others}
        return cls(tuple(numbers), known)

    def __call__(self, name: str, frame: pd.DataFrame) -> Floats:
        """The numbers of any table with these columns, (rows, features)."""
        frame = frame.rename(columns=str)
        check_columns(name, frame.columns, (*self.numbers, *self.categories), self.known)
        numbers = frame[list(self.numbers)].to_numpy(dtype=np.float64, na_value=np.nan)
        holes = dict(zip(self.numbers, ~np.isfinite(numbers).T, strict=True))
        empty = [column for column, bad in holes.items() if bad.any()]
        if empty:
            told = (f"{c!r} in {holes[c].sum():,}, first row {frame.index[holes[c].argmax()]}" for c in empty)
            raise InputError(
                f"{name}: {listed(empty)} empty, NaN or infinite in some rows ({'; '.join(told)}); fill them, as by "
                f"{name}.fillna(X.median(numeric_only=True)), or drop the rows, with their labels"
            )
        parts = [numbers, *(_one_hot(frame[column], values) for column, values in self.categories.items())]
        return np.concatenate(parts, axis=1)

    def stored(self, path: Path, label: str | None = None) -> Any:
        """The numbers of a Parquet file, or of a folder of them, with these columns beside the label's."""
        if not self.categories:
            return parquet(path, label=label, like=Columns(self.numbers, self.known))
        parts = [pd.read_parquet(file) for file in parquet_files(path)]
        return np.concatenate([self(str(path), part.drop(columns=[label] if label else [])) for part in parts])


def index_of(given: Any) -> NDArray[Any] | None:
    """The names a table gives its rows: its index, where that names each once and does not only count them.

    >>> index_of(pd.DataFrame({"a": [1, 2]}, index=[569, 12])), index_of(pd.DataFrame({"a": [1, 2]}))
    (array([569,  12]), None)
    """
    if not isinstance(given, pd.DataFrame) or isinstance(given.index, pd.MultiIndex) or not given.index.is_unique:
        return None
    index = given.index
    return counted(index.to_numpy() if index.dtype.kind in "iu" else index.astype(str).to_numpy(dtype=str))


def _is_category(column: pd.Series[Any]) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column):
        return False
    filled = column.dropna()
    if not all(isinstance(value, str | bool | int | float) for value in filled):
        return False
    return filled.nunique() <= max(2, min(_MOST, len(filled) // 2))


def _one_hot(column: pd.Series[Any], values: tuple[str, ...]) -> Floats:
    """A missing value is none of them."""
    names = column.astype(object).where(column.notna(), None)
    found: Floats = np.array([[name is not None and str(name) == value for value in values] for name in names], float)
    return found.reshape(len(column), len(values))
