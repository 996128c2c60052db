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

from uniqueinfo.errors import InputError, cause, known_names
from uniqueinfo.runs.readers.columns import filled_texts
from uniqueinfo.runs.readers.data import Data, Reading, View, unique_ids
from uniqueinfo.runs.readers.fields import check_fields
from uniqueinfo.runs.readers.labels import as_columns, as_task
from uniqueinfo.runs.readers.missing import MISSING, Holes
from uniqueinfo.runs.readers.reader import Reader, suffixed
from uniqueinfo.runs.readers.roles import UNTRAINED, role_of
from uniqueinfo.samples.checks import listed

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
        labels = _label_columns(path, seen, reading, labelled=True)
        if len(labels) > 1:
            raise InputError(f"{path}: labels are mended where there is one column of them, and --label names several")
        label = labels[0]
        named = _id_column(seen, reading, labels)
        ids = np.arange(len(seen)) if named is None or reading.number else _ids(path, named, seen[named])
        if path.suffix not in (".csv", ".tsv"):
            return cls(seen, label, ids, _records(path) if path.suffix in LINES else None)
        texts = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)
        return cls(texts, label, ids)


def _id_column(frame: pd.DataFrame, reading: Reading, labels: tuple[str, ...]) -> str | None:
    return reading.id or ("id" if "id" in frame and "id" not in labels else None)


def read_table(path: Path, reading: Reading, labelled: bool) -> Data:
    """A table with one sample in each row; `inputs` are the columns to train on, as they stand."""
    frame = _plain(path, _frame(path).rename(columns=str))
    if len(frame) == 0:
        raise InputError(f"{path}: the table has no rows; give at least a few of each class")
    for option, name in _named_columns(reading, labelled):
        if name not in frame:
            raise InputError(f"{path}: {option}: there is no column {name!r}; {known_names(name, frame)}")
    labels = _label_columns(path, frame, reading, labelled)
    named = _id_column(frame, reading, labels)
    found = _roles(frame, reading, [*labels, named, *reading.extra])
    roles = {name: role for name, role in found.items() if role not in UNTRAINED}
    if not roles:
        raise InputError(
            f"{path}: no column is left to train on beside the label; it has {', '.join(map(str, frame))}. Give a "
            "table with columns of features, or name another label with --label"
        )
    for label in labels:
        if frame[label].map(lambda cell: isinstance(cell, list | np.ndarray)).any():
            raise InputError(
                f"{path}: the label {label!r} holds lists; give each row one label, or several in columns of their "
                "own: --label a,b,c"
            )
    holes = Holes.of(frame, roles, labels)
    holes.check(path, reading.fill)
    kept = holes.kept(path, len(frame), reading.fill)
    ids = np.arange(len(frame)) if named is None or reading.number else _ids(path, named, frame[named])
    frame = frame.iloc[kept].reset_index(drop=True)
    told = [column for column in (*labels, None if reading.number else named) if column is not None]
    along = [c for c in frame if c not in told and roles.get(str(c), "category") == "category"]
    whole = len(labels) == 1 and labels[0] in holes.rows and _is_whole(frame[labels[0]])
    targets = _targets(path, frame, labels, reading, whole=whole)
    return Data(
        frame[list(roles)],
        targets,
        unique_ids(path, ids)[kept],
        frame[along].copy() if along else None,
        _views(frame.drop(columns=told), roles, reading.text),
        (path,),
        (
            *_left_out(found if labelled else {}),
            *_other_labels(path, roles, labelled),
            *holes.notes(path, reading.fill),
            *_whole(path, reading, whole),
        ),
        roles,
        table=frame,
        label_names=labels if targets is not None and targets.ndim > 1 else None,
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


def _other_labels(path: Path, roles: Mapping[str, str], labelled: bool) -> list[str]:
    """A note on columns that are trained on though they are named like labels."""
    named = [name for name in _LABELS if name in roles] if labelled else []
    if not named:
        return []
    what = f"{listed(named)} trained on, though named like a label"
    return [f"{path.name}: {what}; keep out what tells the label with --extra"]


def _frame(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix in LINES:
            return pd.DataFrame(_records(path))
        separator = "\t" if path.suffix == ".tsv" else ","
        check_fields(path, separator)
        return pd.read_csv(path, sep=separator, index_col=False)
    except InputError:
        raise
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path}: the file is empty; name another, or write it again") from error
    except (ValueError, OSError) as error:  # pandas' and Arrow's own errors are among these
        kind = path.suffix.removeprefix(".").upper()
        raise InputError(f"{path}: cannot be read as {kind} ({cause(error)}); mend or convert it") from error


def _plain(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Cells as they can be stored: objects in cells are refused; numbers too long to count in are taken for names."""
    for name in frame.columns[frame.columns.map(lambda name: _holds_objects(frame[name]))]:
        column = frame[name]
        length = None
        for row, cell in enumerate(column):
            wrong = _wrong(cell, length)
            if wrong:
                raise InputError(
                    f"{path}: column {name!r} holds {wrong} in row {row} (counted from 0); give each cell a number, a "
                    "text, or a list of as many numbers as the others"
                )
            length = len(cell) if isinstance(cell, list | np.ndarray) else length
        if length is None and not column.map(lambda cell: isinstance(cell, str)).all():
            frame[name] = column.where(column.isna(), column.astype(str))  # numbers among names, or too long to count
    return frame


def _holds_objects(column: Any) -> bool:
    return isinstance(column, pd.Series) and pd.api.types.is_object_dtype(column)  # not two columns of one name


def _wrong(cell: Any, length: int | None) -> str:
    """What is wrong with a cell, after lists of this length."""
    if isinstance(cell, dict):
        return "an object"
    if not isinstance(cell, list | np.ndarray):
        return ""
    if not all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in cell):
        return "a list of other things than numbers"
    return "" if length in (None, len(cell)) else f"a list of {len(cell)} numbers after one of {length}"


def _records(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file, whose lines are counted from 1 in errors, as editors do."""
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            if not line.lstrip().startswith("{"):
                raise ValueError(f"line {number} is no object")
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from error
            except RecursionError as error:
                raise ValueError(f"line {number} holds too many things in one another") from error
    return found


def _targets(
    path: Path, frame: pd.DataFrame, labels: tuple[str, ...], reading: Reading, *, whole: bool
) -> NDArray[Any] | None:
    """What is learnt: classes, several labels, numbers, or texts."""
    if not labels:
        return None
    if len(labels) > 1:
        return as_columns(path, frame[list(labels)], reading.task)
    (label,) = labels
    if reading.task == "generation":
        return np.array(filled_texts(frame[label]), dtype=str)
    return as_task(path, _labels(frame[label], whole=whole), reading.task)


def _label_columns(path: Path, frame: pd.DataFrame, reading: Reading, labelled: bool) -> tuple[str, ...]:
    """None where there are no labels; several where --label names them, with commas between."""
    if reading.unlabelled or (reading.task == "generation" and reading.label is None):  # it may have empty cells
        return ()
    named = tuple(filter(None, map(str.strip, (reading.label or "").split(","))))
    if len(named) > 1 and reading.label not in frame:
        absent = [name for name in named if name not in frame]
        if absent and (labelled or len(absent) < len(named)):
            raise InputError(f"{path}: --label: there is no column {absent[0]!r}; {known_names(absent[0], frame)}")
        return () if absent else named
    known = [name for name in _LABELS if name in frame and name not in (reading.id, reading.text, *reading.extra)]
    if reading.label is None and len(known) > 1:
        raise InputError(
            f"{path}: columns {' and '.join(map(repr, known))} could all be the label; name it with --label, and keep "
            "the others out of training with --extra"
        )
    wanted = reading.label or (known[0] if known else None)
    if wanted in frame:
        assert wanted is not None
        return (wanted,)
    if not labelled:
        return ()
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
