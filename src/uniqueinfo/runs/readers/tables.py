"""CSV, Parquet and JSONL: which column is the label, which names the sample, which are trained on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError, known_names
from uniqueinfo.runs.readers.data import Data, Reading, View, unique_ids
from uniqueinfo.runs.readers.labels import as_task
from uniqueinfo.runs.readers.missing import MISSING, Holes
from uniqueinfo.runs.readers.reader import Reader, suffixed
from uniqueinfo.runs.readers.roles import UNTRAINED, role_of

_LABELS = ("label", "labels", "y", "target")
LINES = (".jsonl", ".ndjson")
SUFFIXES = (".csv", ".tsv", ".parquet", *LINES)


@dataclass(frozen=True, eq=False)
class Table:
    """A table with all its rows as they stand in the file: texts of a CSV stay what they are."""

    frame: pd.DataFrame
    label: str
    """The column of labels."""
    ids: NDArray[Any]
    """What the rows are called."""
    records: list[dict[str, Any]] | None = None
    """The objects of a JSONL file: not all need have all columns."""

    @classmethod
    def read(cls, path: Path, reading: Reading) -> Table:
        """As `read_table` names columns and rows."""
        seen = _frame(path).rename(columns=str)
        label = _label_column(path, seen, reading, labelled=True)
        assert label is not None
        named = _id_column(seen, reading, label)
        ids = np.arange(len(seen)) if named is None or reading.number else _ids(path, named, seen[named])
        if path.suffix not in (".csv", ".tsv"):
            return cls(seen, label, ids, _records(path) if path.suffix in LINES else None)
        texts = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)
        return cls(texts, label, ids)


def _id_column(frame: pd.DataFrame, reading: Reading, label: str | None) -> str | None:
    return reading.id or ("id" if "id" in frame and label != "id" else None)


def read_table(path: Path, reading: Reading, labelled: bool) -> Data:
    """A table with one sample in each row; `inputs` are the columns to train on, as they stand."""
    frame = _frame(path).rename(columns=str)
    if len(frame) == 0:
        raise InputError(f"{path}: the table has no rows")
    for option, name in _named_columns(reading, labelled):
        if name not in frame:
            raise InputError(f"{path}: {option}: there is no column {name!r}; {known_names(name, frame)}")
    label = _label_column(path, frame, reading, labelled)
    named = _id_column(frame, reading, label)
    found = _roles(frame, reading, [label, named, *reading.extra])
    roles = {name: role for name, role in found.items() if role not in UNTRAINED}
    if not roles:
        raise InputError(f"{path}: no column is left to train on beside the label; it has {', '.join(map(str, frame))}")
    holes = Holes.of(frame, roles, label)
    holes.check(path, reading.fill)
    kept = holes.kept(path, len(frame), reading.fill)
    ids = np.arange(len(frame)) if named is None or reading.number else _ids(path, named, frame[named])
    frame = frame.iloc[kept].reset_index(drop=True)
    told = [column for column in (label, None if reading.number else named) if column is not None]
    along = [c for c in frame if c not in told and roles.get(str(c), "category") == "category"]
    whole = label is not None and label in holes.rows and _is_whole(frame[label])
    return Data(
        frame[list(roles)],
        None if label is None else as_task(path, _labels(frame[label], whole=whole), reading.task),
        unique_ids(path, ids)[kept],
        frame[along].copy() if along else None,
        _views(frame.drop(columns=told), roles, reading.text),
        (path,),
        (*_left_out(found if labelled else {}), *holes.notes(path, reading.fill), *_whole(path, reading, whole)),
        roles,
        table=frame,
    )


def _named_columns(reading: Reading, labelled: bool) -> list[tuple[str, str]]:
    """Columns that the user names and that must be there; those that travel along may be missing in other data."""
    named = [("--id", reading.id), ("--text", reading.text)]
    named += [("--extra", name) for name in reading.extra] if labelled else []
    return [(option, name) for option, name in named if name is not None]


def _roles(frame: pd.DataFrame, reading: Reading, others: list[str | None]) -> dict[str, str]:
    """What each column is that may be trained on; in data that is to be like other data, what it is there."""
    if reading.roles is not None:
        return {name: role for name, role in reading.roles.items() if name in frame}
    if reading.text is not None:
        return {reading.text: "text"}
    return {str(name): role_of(frame[name]) for name in frame if name not in others}


def _left_out(roles: Mapping[str, str]) -> list[str]:
    """Notes on columns that are not trained on."""
    dates = [name for name, role in roles.items() if role == "date"]
    others = [name for name, role in roles.items() if role == "other"]
    said = [f"not trained on, neither numbers nor categories nor text: {', '.join(others)}"] if others else []
    if dates:
        said.append(
            f"not trained on, as they hold dates: {', '.join(dates)}; they go to the table, as with --extra. To train "
            "on a date, turn it into a number, such as days"
        )
    return said


def _frame(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix in LINES:
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
    if wanted is None:
        raise InputError(
            f"{path}: there is no column named label, y or target; name one of {', '.join(frame.columns[:12])} with "
            "--label"
        )
    raise InputError(f"{path}: --label: there is no label column {wanted!r}; {known_names(wanted, frame)}")


def _ids(path: Path, name: str, column: pd.Series[Any]) -> NDArray[Any]:
    empty = np.flatnonzero(column.isna())
    if len(empty):
        raise InputError(
            f"{path}: the id {name!r} is empty in {len(empty):,} of {len(column):,} rows (first row {empty[0]}, "
            "counted from 0); fill it in, or say --number to number the rows"
        )
    if _is_whole(column):
        return column.to_numpy(dtype=np.int64)
    return column.astype(str).to_numpy(dtype=str) if column.dtype.kind not in "iuf" else np.asarray(column.to_numpy())


def _is_whole(column: pd.Series[Any]) -> bool:
    """Whether all of its numbers with a decimal point are whole: pandas gives it to those beside an empty cell."""
    return pd.api.types.is_float_dtype(column) and bool((column % 1 == 0).all())


def _whole(path: Path, reading: Reading, whole: bool) -> list[str]:
    if not whole or reading.task != "auto":
        return []
    return [f"{path.name}: labels are whole numbers, and taken for classes; say --task regression to predict numbers"]


def _labels(column: pd.Series[Any], *, whole: bool) -> NDArray[Any]:
    if whole or pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=np.int64)
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy())
    return column.astype(str).to_numpy(dtype=str)


def _views(frame: pd.DataFrame, roles: Mapping[str, str], text: str | None) -> Callable[[int], View]:
    texts = [text] if text is not None else [column for column, role in roles.items() if role == "text"]

    def show(index: int) -> View:
        if len(texts) == 1 and len(roles) == 1:
            return str(frame[texts[0]].iloc[index])
        row = {str(name): frame[name].iloc[index] for name in frame}
        return {name: MISSING if pd.api.types.is_scalar(cell) and pd.isna(cell) else cell for name, cell in row.items()}

    return show


READERS = (
    Reader(
        "a .csv, .tsv, .parquet or .jsonl table",
        suffixed(*SUFFIXES),
        read_table,
    ),
)
