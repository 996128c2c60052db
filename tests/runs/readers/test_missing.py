"""Empty cells of tables: what stands for them, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.runs.readers import files
from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Data, Reading, read
from uniqueinfo.runs.readers.columns import TableEncoding

REVIEWS = ["a slow and very dull film indeed", "what a bright and clever film this is"]


def with_holes() -> pd.DataFrame:
    """Row 2 has no size, row 5 no colour."""
    frame = files.table()
    frame.loc[2, "size"] = np.nan
    frame.loc[5, "colour"] = None
    return frame


def reading_of(tmp_path: Path, frame: pd.DataFrame, **options: object) -> Data:
    return read(files.csv(tmp_path / "t.csv", frame), Reading(label="kind", **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("fill", ["median", "mean"])
def test_a_number_that_is_not_there_becomes_that_of_the_training_rows(fill: str) -> None:
    train, val = pd.DataFrame({"a": [1.0, np.nan, 2.0, 9.0]}), pd.DataFrame({"a": [np.nan, 100.0]})
    stand_in = {"median": 2.0, "mean": 4.0}[fill]
    whole = TableEncoding.fit(train.fillna(stand_in))
    found = TableEncoding.fit(train, fill=fill)(Path("v"), val)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found, whole(Path("v"), val.fillna(stand_in)))


def test_an_embedding_that_is_not_there_is_filled_number_by_number() -> None:
    frame = pd.DataFrame({"a": [[0.0, 1.0], None, [2.0, 1.0]]})
    assert TableEncoding.fit(frame, fill="mean")(Path("t"), frame)[1].tolist() == [0, 0]


def test_a_text_that_is_not_there_is_a_word_of_its_own() -> None:
    frame = pd.DataFrame({"a": [*REVIEWS, None]})
    found = TableEncoding.fit(frame, text="a", fill="median")(Path("t"), frame)
    assert np.count_nonzero(found[2]) == 1


def test_a_filled_table_says_what_was_filled(tmp_path: Path) -> None:
    assert reading_of(tmp_path, with_holes(), fill="median").notes == (
        "t.csv: empty cells hold the median of the training rows (--fill median): 'size' in 1 row (first row 2)",
        "t.csv: empty cells count as a category of their own: 'colour' in 1 row (first row 5)",
    )


def test_dropped_rows_keep_the_numbers_of_the_others(tmp_path: Path) -> None:
    data = reading_of(tmp_path, with_holes(), fill="drop")
    assert data.ids.tolist() == [row for row in range(24) if row not in (2, 5)]
    assert data.labels is not None
    assert data.labels.tolist() == files.table()["kind"].drop([2, 5]).tolist()
    assert "2 rows are left out (--fill drop)" in data.notes[0]


def test_a_label_that_is_not_there_goes_with_its_row(tmp_path: Path) -> None:
    frame = files.table().assign(kind=np.arange(24) % 2)
    data = reading_of(tmp_path, frame.assign(kind=frame["kind"].where(frame.index != 4)), fill="drop")
    assert data.labels is not None
    assert data.labels.tolist() == frame["kind"].drop(4).tolist()  # classes still, though pandas made floats of them
    assert "taken for classes; say --task regression" in data.notes[1]


def test_an_empty_category_alone_is_not_refused_and_said(tmp_path: Path) -> None:
    frame = files.table()
    frame.loc[5, "colour"] = None
    assert "a category of their own: 'colour' in 1 row" in reading_of(tmp_path, frame).notes[0]


def test_a_column_that_is_not_trained_on_may_be_empty(tmp_path: Path) -> None:
    assert len(reading_of(tmp_path, files.table().assign(note=np.nan), extra=("note",))) == 24


def test_dates_go_to_the_table_and_that_is_said(tmp_path: Path) -> None:
    data = reading_of(tmp_path, files.table().assign(seen=["2024-01-31", "2024-02-01"] * 12))
    assert "seen" not in data.inputs
    assert data.columns is not None
    assert "seen" in data.columns
    assert "not trained on, as they hold dates: seen" in data.notes[0]


def test_numbered_rows_take_their_ids_along(tmp_path: Path) -> None:
    data = reading_of(tmp_path, files.table().assign(id="same"), number=True)
    assert data.ids.tolist() == list(range(24))
    assert data.columns is not None
    assert data.columns["id"].tolist() == ["same"] * 24


def test_numbered_arrays_take_their_ids_along(tmp_path: Path) -> None:
    data = read(files.npz(tmp_path / "t.npz", id=np.zeros(24)), Reading(number=True))
    assert data.ids.tolist() == list(range(24))
    assert data.columns is not None
    assert "id" in data.columns


def test_other_data_may_lack_columns_that_travel_along(tmp_path: Path) -> None:
    path = files.csv(tmp_path / "val.csv", files.table().drop(columns="colour"))
    assert len(read(path, Reading(label="kind", extra=("colour",)), labelled=False)) == 24


def test_other_data_has_the_columns_of_training_whatever_they_look_like(tmp_path: Path) -> None:
    train = reading_of(tmp_path, files.table(60).assign(place=["here", "there", "away"] * 20))
    few = files.csv(tmp_path / "val.csv", files.table(3).assign(place=["here", "there", "away"]))
    val = read(few, Reading(label="kind").like(train), labelled=False)
    assert list(val.inputs.columns) == list(train.inputs.columns)


def test_other_data_with_empty_cells_is_refused_by_what_training_took_them_for(tmp_path: Path) -> None:
    train = reading_of(tmp_path, files.table())
    empty = files.csv(tmp_path / "val.csv", files.table().assign(size=np.nan))
    with pytest.raises(InputError, match=r"'size' in 24 rows"):
        read(empty, Reading(label="kind").like(train), labelled=False)
