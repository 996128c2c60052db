"""CSV, Parquet and JSONL: which column is the label, which names the sample, which are trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Data, Reading, View, unique_ids
from uniqueinfo.runs.readers.labels import as_task
from uniqueinfo.runs.readers.reader import Reader, suffixed

_LABELS = ("label", "labels", "y", "target")
_MOST_CATEGORIES = 50
_WORDS = 4  # a column of more words a cell than these, on average, is text


def read_table(path: Path, reading: Reading, labelled: bool) -> Data:
    """A table with one sample in each row; `inputs` are the columns to train on, as they stand."""
    frame = _frame(path).rename(columns=str)
    if len(frame) == 0:
        raise InputError(f"{path}: the table has no rows")
    for name in (reading.id, reading.text, *reading.extra):
        if name is not None and name not in frame:
            raise InputError(f"{path}: there is no column {name!r}; it has {_listed(frame)}")
    label = _label_column(path, frame, reading, labelled)
    named = reading.id or ("id" if "id" in frame and label != "id" else None)
    features = frame.drop(columns=[c for c in (label, named, *reading.extra) if c in frame])
    if reading.text is not None:
        features = features[[reading.text]]
    roles = {str(column): role_of(features[column]) for column in features}
    trained = [column for column, role in roles.items() if column == reading.text or role != "other"]
    if not trained:
        raise InputError(f"{path}: no column is left to train on beside the label; it has {_listed(frame)}")
    for column in trained:
        _check_filled(path, column, features[column], roles[column])
    ids = np.arange(len(frame)) if named is None else frame[named].to_numpy()
    along = [c for c in frame if c not in (label, named) and (c not in trained or roles[c] == "category")]
    left = [c for c in roles if c not in trained]
    return Data(
        features[trained],
        None if label is None else as_task(path, _labels(path, frame[label]), reading.task),
        unique_ids(path, ids.astype(str) if ids.dtype.kind == "O" else ids),
        frame[along].copy() if along else None,
        _views(frame.drop(columns=[c for c in (label, named) if c is not None]), trained, roles, reading.text),
        (path,),
        (f"not trained on, neither numbers nor categories nor text: {', '.join(left)}",) if left else (),
        table=frame,
    )


def role_of(column: pd.Series[Any]) -> str:
    """What a column is: number, vector, category, text, or other (names, dates), which is not trained on.

    >>> role_of(pd.Series([1.5, 2.0])), role_of(pd.Series(["a", "b", "a"]))
    ('number', 'category')
    """
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    filled = column.dropna()
    if len(filled) and isinstance(filled.iloc[0], list | np.ndarray):
        return "vector"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "other"
    values = filled.astype(str)
    if values.str.count(" ").mean() >= _WORDS:
        return "text"
    return "category" if values.nunique() <= min(_MOST_CATEGORIES, max(2, len(values) // 2)) else "other"


def _frame(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix in (".jsonl", ".ndjson"):
            return pd.DataFrame(_records(path))
        return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path}: the file is empty") from error
    except (ValueError, OSError) as error:  # pandas' and Arrow's own errors are among these
        kind = path.suffix.removeprefix(".").upper()
        raise InputError(
            f"{path}: cannot be read as {kind} ({str(error).splitlines()[0]}); mend or convert it"
        ) from error


def _records(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file, whose lines are counted from 1 in errors, as editors do."""
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            record = json.loads(line) if line.lstrip().startswith("{") else None
            if record is None:
                raise ValueError(f"line {number} is no object")
            found.append(record)
    return found


def _label_column(path: Path, frame: pd.DataFrame, reading: Reading, labelled: bool) -> str | None:
    wanted = reading.label or next((name for name in _LABELS if name in frame), None)
    if wanted in frame:
        return wanted
    if not labelled:
        return None
    named = "a column named label, y or target" if wanted is None else f"a label column {wanted!r}"
    raise InputError(f"{path}: there is no {named.removeprefix('a ')}; name one of {_listed(frame)} with --label")


def _labels(path: Path, column: pd.Series[Any]) -> NDArray[Any]:
    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise InputError(f"{path}: row {missing[0]} (counted from 0) has no label; fill it in or drop the row")
    if pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=np.int64)
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy())
    return column.astype(str).to_numpy(dtype=str)


def _check_filled(path: Path, name: str, column: pd.Series[Any], role: str) -> None:
    if role == "number":
        bad = ~np.isfinite(column.to_numpy(dtype=np.float64, na_value=np.nan))
    elif role in ("text", "vector"):
        bad = column.isna().to_numpy()
    else:
        return  # a missing category is a category
    if bad.any():
        raise InputError(
            f"{path}: column {name!r} is empty, NaN or infinite in row {int(bad.argmax())} (counted from 0); "
            "fill it in, drop the row, or keep the column out with --extra"
        )


def _views(frame: pd.DataFrame, trained: list[str], roles: dict[str, str], text: str | None) -> Any:
    texts = [text] if text is not None else [column for column in trained if roles[column] == "text"]

    def show(index: int) -> View:
        if len(texts) == 1 and len(trained) == 1:
            return str(frame[texts[0]].iloc[index])
        return {str(name): value for name, value in frame.iloc[index].to_dict().items()}

    return show


def _listed(frame: pd.DataFrame) -> str:
    names = [str(name) for name in frame.columns]
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


READERS = (
    Reader(
        "a .csv, .tsv, .parquet or .jsonl table",
        suffixed(".csv", ".tsv", ".parquet", ".jsonl", ".ndjson"),
        read_table,
    ),
)
