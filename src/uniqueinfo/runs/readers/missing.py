"""Cells of a table that hold nothing: all of them named at once, filled, or their rows left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Fill

MISSING = "(missing)"
"""What stands for an empty cell of a category or a text."""


@dataclass(frozen=True, eq=False)
class Holes:
    """By column, the rows in which it is empty; columns without any are not in it.

    >>> holes = Holes.of(pd.DataFrame({"size": [1.0, np.nan, np.inf], "kind": ["a", "b", None]}),
    ...                  {"size": "number", "kind": "category"}, ("kind",))
    >>> holes.words()
    "'size' in 2 rows (first row 1) and the label 'kind' in 1 row (first row 2)"
    """

    rows: Mapping[str, NDArray[np.bool_]]
    roles: Mapping[str, str]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, frame: pd.DataFrame, roles: Mapping[str, str], labels: tuple[str, ...]) -> Holes:
        """Of the columns that are trained on, and of the labels."""
        found = {name: _is_empty(frame[name], role) for name, role in roles.items()}
        found |= {label: frame[label].isna().to_numpy() for label in labels}
        return cls({name: empty for name, empty in found.items() if empty.any()}, roles, labels)

    def words(self) -> str:
        """Every column, with how many cells and the first row."""
        return _joined([self._told(name) for name in self.rows])

    def check(self, path: Path, fill: Fill | None) -> None:
        """Refuse what nothing is to be put in for; an empty category is one of its own, so it can stay."""
        if fill == "drop":
            return
        unlabelled = [label for label in self.labels if label in self.rows]
        if unlabelled and (fill is not None or len(self._refused) == 1):
            raise InputError(
                f"{path}: {self._told(unlabelled[0])}, counted from 0, is empty; fill it in, or say --fill drop to "
                "leave such rows out"
            )
        if fill is None and self._refused:
            told = _joined([self._told(name) for name in self._refused])
            raise InputError(
                f"{path}: cells are empty, NaN or infinite: {told}, counted from 0; fill them in, or say --fill median "
                "(or mean) to fill numbers, or --fill drop to leave these rows out; --extra COLUMN keeps a column out "
                "of training"
            )

    def kept(self, path: Path, rows: int, fill: Fill | None) -> NDArray[np.intp]:
        """Rows that stay: all, unless those with empty cells are to be dropped."""
        if fill != "drop":
            return np.arange(rows)
        empty = np.zeros(rows, dtype=bool)
        for one in self.rows.values():
            empty |= one
        if empty.all():
            raise InputError(
                f"{path}: --fill drop: every row has an empty cell ({self.words()}); say --fill median, or keep such a "
                "column out of training with --extra"
            )
        return np.flatnonzero(~empty)

    def notes(self, path: Path, fill: Fill | None) -> tuple[str, ...]:
        """What was done about them, for people."""
        if not self.rows:
            return ()
        if fill == "drop":
            gone = int(np.logical_or.reduce(list(self.rows.values())).sum())
            rows = "1 row is" if gone == 1 else f"{gone:,} rows are"
            return (f"{path.name}: {rows} left out (--fill drop), where cells are empty: {self.words()}",)
        said = []
        numbers = [name for name in self.rows if self.roles.get(name) in ("number", "vector")]
        others = [name for name in self.rows if self.roles.get(name) in ("category", "text")]
        if numbers:
            told = _joined([self._told(name) for name in numbers])
            said.append(f"{path.name}: empty cells hold the {fill} of the training rows (--fill {fill}): {told}")
        if others:
            told = _joined([self._told(name) for name in others])
            said.append(f"{path.name}: empty cells count as a category of their own: {told}")
        return tuple(said)

    @property
    def _refused(self) -> list[str]:
        return [name for name in self.rows if self.roles.get(name) != "category"]

    def _told(self, name: str) -> str:
        empty = self.rows[name]
        count = int(empty.sum())
        rows = "1 row" if count == 1 else f"{count:,} rows"
        return f"{'the label ' if name in self.labels else ''}{name!r} in {rows} (first row {int(empty.argmax())})"


def _is_empty(column: pd.Series[Any], role: str) -> NDArray[np.bool_]:
    if role == "number" and pd.api.types.is_numeric_dtype(column):  # of another kind: said when it is encoded
        empty: NDArray[np.bool_] = ~np.isfinite(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return empty
    if role == "vector":
        return np.array([not _is_whole(cell) for cell in column])
    if role == "text":
        return (column.isna() | (column.astype(str).str.strip() == "")).to_numpy()
    return column.isna().to_numpy()


def _is_whole(cell: Any) -> bool:
    """Whether a cell is a list of numbers, all of them finite."""
    return isinstance(cell, list | np.ndarray) and bool(np.isfinite(np.asarray(cell, dtype=np.float64)).all())


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
