"""Arrays in files, read piece by piece."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uniqueinfo as ui
from tests.scoring.problems import features, largest_difference
from uniqueinfo.errors import InputError
from uniqueinfo.samples.stored import NpyFile, as_array, portable

TRAINING = ui.Converged(1e-2)


def written(folder: Path, kind: str) -> tuple[str, str]:
    """The features and labels of `features()` in files: what is handed over as X and y."""
    X, y = features()
    folder.mkdir()
    if kind == "npy":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        return str(folder / "X.npy"), str(folder / "y.npy")
    if kind == "npy shards":
        for name, array in (("X", X), ("y", y)):
            (folder / name).mkdir()
            for number, at in enumerate(np.array_split(np.arange(len(X)), 3)):
                np.save(folder / name / f"{number}.npy", array[at])
        return str(folder / "X"), str(folder / "y")
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).assign(kind=y)
    if kind == "parquet":
        table.to_parquet(folder / "table.parquet", row_group_size=70)
        return str(folder / "table.parquet"), "kind"
    if kind == "parquet shards":
        for number, at in enumerate(np.array_split(np.arange(len(X)), 3)):
            table.iloc[at].to_parquet(folder / f"{number}.parquet", index=False)
        return str(folder), "kind"
    lists = pa.FixedSizeListArray.from_arrays(X.ravel(), X.shape[1])
    pq.write_table(pa.table({"embedding": lists, "kind": y}), folder / "table.parquet", row_group_size=64)
    return str(folder / "table.parquet"), "kind"


@pytest.mark.parametrize("kind", ["npy", "npy shards", "parquet", "parquet shards", "parquet lists"])
def test_files_score_as_the_arrays_in_them(kind: str, tmp_path: Path) -> None:
    (X, y), (X_val, y_val) = features(), features(40, seed=1)
    paths = written(tmp_path / "data", kind)
    wanted = ui.score_features(X, y, X_val, y_val, training=TRAINING, engine="local")
    found = ui.score_features(*paths, X_val, y_val, training=TRAINING, out=tmp_path / "run")
    assert largest_difference(found, wanted) == 0


def test_validation_tables_leave_the_label_column_out(tmp_path: Path) -> None:
    X, y = features()
    path, column = written(tmp_path / "data", "parquet")
    found = ui.score_features(path, column, path, column, training=TRAINING, engine="local")
    assert largest_difference(found, ui.score_features(X, y, X, y, training=TRAINING, engine="local")) == 0


def test_a_memory_map_is_sent_as_the_name_of_its_file(tmp_path: Path) -> None:
    path, _ = written(tmp_path / "data", "npy")
    mapped = np.load(path, mmap_mode="r")
    reader = as_array("X", mapped)
    assert isinstance(reader, NpyFile)
    assert len(pickle.dumps(reader)) < 1000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(reader))[50:60], mapped[50:60])
    assert isinstance(portable(np.asarray(mapped)), NpyFile)  # a plain view of all of it


def test_a_part_of_a_memory_map_keeps_its_own_contents(tmp_path: Path) -> None:
    path, _ = written(tmp_path / "data", "npy")
    part = np.load(path, mmap_mode="r")[100:]
    np.testing.assert_array_equal(as_array("X", part)[:5], part[:5])
    np.testing.assert_array_equal(portable(part)[:5], part[:5])


def test_any_slice_of_shards_is_that_of_the_whole(tmp_path: Path) -> None:
    X, _ = features()
    for kind in ("npy shards", "parquet shards"):
        path, _ = written(tmp_path / kind, kind)
        reader = as_array("X", path)
        whole = X if kind == "npy shards" else np.column_stack([X, features()[1]])
        for start, stop in ((0, 300), (0, 1), (99, 101), (100, 200), (299, 300), (150, 150)):
            np.testing.assert_array_equal(reader[start:stop], whole[start:stop])
        chosen = np.array([250, 3, 101, 100])
        np.testing.assert_array_equal(reader[chosen], whole[chosen])


def test_missing_and_mismatched_files_are_named(tmp_path: Path) -> None:
    X, y = written(tmp_path / "data", "npy")
    for given, message in (
        ((str(tmp_path / "none.npy"), y), r"none\.npy"),
        ((str(tmp_path), y), "holds no .npy"),
        ((X, np.zeros(3, int)), "one label for each of the 300"),
    ):
        with pytest.raises(InputError, match=message):
            ui.score_features(*given, training=TRAINING, out=tmp_path / "run")
    with pytest.raises(InputError, match="no column 'nobody'"):
        ui.score_features(*written(tmp_path / "more", "parquet")[:1], "nobody", training=TRAINING, out=tmp_path / "run")
