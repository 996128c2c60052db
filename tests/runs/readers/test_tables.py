"""Tables: what each column is taken for, and the numbers it becomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.runs.readers import files
from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Reading, read
from uniqueinfo.runs.readers.columns import TableEncoding

REVIEWS = ["a slow and very dull film indeed", "what a bright and clever film this is"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_every_format_gives_the_same(tmp_path: Path, suffix: str) -> None:
    frame, path = files.table(), tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    data = read(path, Reading(label="kind"))
    assert data.labels is not None
    assert data.labels.tolist() == frame["kind"].tolist()
    np.testing.assert_allclose(data.inputs["size"], frame["size"])


def test_labels_that_are_left_aside_may_be_empty(tmp_path: Path) -> None:
    train = read(files.csv(tmp_path / "train.csv"), Reading(label="kind"))
    pool = files.csv(tmp_path / "pool.csv", files.table().assign(kind=None))
    data = read(pool, Reading(label="kind").like(train, unlabelled=True), labelled=False)
    assert data.labels is None
    assert list(data.inputs.columns) == ["size", "colour"]


def test_categories_are_trained_on_and_travel_along(tmp_path: Path) -> None:
    data = read(files.csv(tmp_path / "t.csv"), Reading(label="kind"))
    assert list(data.inputs.columns) == ["size", "colour"]
    assert data.columns is not None
    assert list(data.columns.columns) == ["colour"]


def test_extra_columns_are_not_trained_on(tmp_path: Path) -> None:
    data = read(files.csv(tmp_path / "t.csv"), Reading(label="kind", extra=("colour",)))
    assert list(data.inputs.columns) == ["size"]
    assert data.columns is not None
    assert "colour" in data.columns


def test_names_are_not_trained_on_and_that_is_said(tmp_path: Path) -> None:
    frame = files.table().assign(file=[f"{i}.wav" for i in range(24)])
    data = read(files.csv(tmp_path / "t.csv", frame), Reading(label="kind"))
    assert "file" not in data.inputs
    assert "file" in data.notes[0]


def test_beside_a_named_text_everything_travels_along(tmp_path: Path) -> None:
    frame = files.table().assign(review=REVIEWS * 12)
    data = read(files.csv(tmp_path / "t.csv", frame), Reading(label="kind", text="review"))
    assert list(data.inputs.columns) == ["review"]
    assert data.show(1) == REVIEWS[1]
    assert data.columns is not None
    assert {"size", "colour"} <= set(data.columns)


def test_a_row_is_shown_by_its_columns(tmp_path: Path) -> None:
    frame = files.table()
    shown = read(files.csv(tmp_path / "t.csv", frame), Reading(label="kind")).show(3)
    assert shown == {"size": frame["size"][3], "colour": frame["colour"][3]}


def test_a_column_id_names_the_samples(tmp_path: Path) -> None:
    frame = files.table().assign(id=[f"s{i}" for i in range(24)])
    assert read(files.csv(tmp_path / "t.csv", frame), Reading(label="kind")).ids[2] == "s2"


def test_a_label_with_a_decimal_point_is_a_number_to_predict(tmp_path: Path) -> None:
    labels = read(files.csv(tmp_path / "t.csv"), Reading(label="size")).labels
    assert labels is not None
    assert labels.dtype == np.float64


def test_numbers_are_standardized_by_the_training_rows() -> None:
    train, val = pd.DataFrame({"a": [1.0, 3.0, 5.0]}), pd.DataFrame({"a": [3.0, 7.0]})
    encoding = TableEncoding.fit(train)
    assert encoding(Path("t"), train).mean() == pytest.approx(0, abs=1e-6)
    assert encoding(Path("t"), train).std() == pytest.approx(1)
    assert encoding(Path("v"), val)[0, 0] == 0


def test_a_constant_column_becomes_zeros() -> None:
    frame = pd.DataFrame({"a": [2.0, 2.0]})
    assert TableEncoding.fit(frame)(Path("t"), frame).tolist() == [[0.0], [0.0]]


def test_a_missing_category_is_a_category() -> None:
    frame = pd.DataFrame({"a": ["x", None, "x"]})
    assert TableEncoding.fit(frame)(Path("t"), frame).tolist() == [[0, 1], [1, 0], [0, 1]]


def test_a_column_of_embeddings_is_features() -> None:
    frame = pd.DataFrame({"a": [[0.0, 1.0], [2.0, 1.0]]})
    assert TableEncoding.fit(frame)(Path("t"), frame).tolist() == [[-1, 0], [1, 0]]


def test_texts_become_weights_of_the_training_words() -> None:
    train = pd.DataFrame({"text": REVIEWS * 3})
    encoding = TableEncoding.fit(train)
    words = set(" ".join(REVIEWS).split()) - {"a"}  # single letters are no words
    assert encoding(Path("t"), train).shape == (6, len(words))
    assert encoding(Path("v"), pd.DataFrame({"text": ["unheard words only"]})).tolist() == [[0.0] * len(words)]


def test_another_kind_of_column_in_validation_is_refused() -> None:
    encoding = TableEncoding.fit(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(InputError, match="'a' is of another kind"):
        encoding(Path("v"), pd.DataFrame({"a": ["x", "y"]}))
