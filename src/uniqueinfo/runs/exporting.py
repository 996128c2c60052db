"""Tables with a row for each sample, joined to the user's own table as it stands in its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.page import read_again
from uniqueinfo.runs.readers import Data
from uniqueinfo.store.files import replacing

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""The last ones are wide forms of the first, which some spreadsheets take for them."""


def with_file(run: Run, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """All columns of the user's table beside those of `frame`, whose `id` names the samples; and what is missing, why.

    A column that is there already is not repeated; another of the same name becomes "NAME (given)".
    """
    samples, why_not = read_again(run)
    if samples is None:
        return frame, f"only columns that the run keeps are exported: {why_not}" if run.asked else ""
    parts = [data for data in _of_one_file(*samples) if data.table is not None]
    if not parts:
        return frame, ""
    ids = pd.Index(np.concatenate([data.ids for data in parts]).astype(str))
    table = pd.concat([data.table for data in parts], ignore_index=True)
    found = table.iloc[ids.get_indexer(pd.Index(frame["id"].astype(str)))].reset_index(drop=True)
    return joined(frame.reset_index(drop=True), found), ""


def joined(frame: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Two tables of the same samples side by side.

    >>> ours = pd.DataFrame({"id": [0, 1], "label": ["a", "b"], "given": ["a", "a"]})
    >>> joined(ours, pd.DataFrame({"label": ["a", "a"], "size": [3, 4]})).columns.tolist()
    ['id', 'label', 'given', 'size']
    >>> joined(ours, pd.DataFrame({"label": ["x", "y"]})).columns.tolist()
    ['id', 'label', 'given', 'label (given)']
    >>> joined(pd.DataFrame({"city": ["Rome", None]}), pd.DataFrame({"city": ["Rome", np.nan]})).columns.tolist()
    ['city']
    """
    added: dict[str, Any] = {}
    for name in map(str, own):
        told = [frame[other] for other in (name, "given", f"{name} (given)") if name in frame and other in frame]
        if not any(_same(own[name], column) for column in told):
            added[f"{name} (given)" if name in frame else name] = own[name]
    return pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)


def write_csv(frame: pd.DataFrame, path: Path) -> int:
    """Write a table for people, who open it in a spreadsheet: no cell of theirs or of others is run as a formula.

    Such texts get a ' before them, which spreadsheets do not show; says how many these were.
    """
    harmless, quoted = without_formulas(frame)
    with replacing(path) as beside:
        harmless.to_csv(beside, index=False)
    return quoted


def without_formulas(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The table with a ' before texts that a spreadsheet would take for a formula, and how many there are.

    >>> table, quoted = without_formulas(pd.DataFrame({"name": ["=1+1", "-5", "a"], "size": [-1.0, 2.0, 3.0]}))
    >>> table["name"].tolist(), quoted
    (["'=1+1", '-5', 'a'], 1)
    """
    found, quoted = frame.copy(), 0
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
            continue
        risky = column.map(_is_formula).astype(bool)
        quoted += int(risky.sum())
        if risky.any():
            found.isetitem(place, np.where(risky, "'" + column.astype(str), column.astype(object)))
    found.columns = pd.Index([f"'{name}" if _is_formula(name) else name for name in frame.columns])
    return found, quoted


def _is_formula(cell: object) -> bool:
    if not isinstance(cell, str) or not cell.lstrip().startswith(_BEGINS_FORMULA):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def _same(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Empty cells are equal, however they are written."""
    left, right = (column.astype(object).where(column.notna(), "").astype(str).to_numpy() for column in (one, other))
    return bool((left == right).all())


def _of_one_file(train: Data, val: Data) -> tuple[Data, ...]:
    """Samples that were held out stand in the file of the others; named ones do not."""
    return (train,) if val.rows is None else (train, val)
