"""Columns are known by their names, wherever a table comes from: in another order they are the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from tests.oracles.compare import close
from uniqueinfo.runs.readers import Reading, read
from uniqueinfo.runs.readers.columns import TableEncoding

TRAINING = ui.Converged(1e-2)
ORDER = ["c", "a", "b"]


def table(n: int, seed: int) -> pd.DataFrame:
    """Columns of different sizes, so that exchanging them shows."""
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 3.0, 9.0], columns=list("abc"))


@dataclass(frozen=True)
class Given:
    """Training samples, their labels, and validation samples."""

    X: pd.DataFrame = field(default_factory=lambda: table(40, 0))
    val: pd.DataFrame = field(default_factory=lambda: table(9, 1))

    @property
    def y(self) -> pd.Series[int]:
        return (self.X["a"] + self.X["b"] / 3 > 0).astype(int)


@pytest.fixture(name="data")
def given() -> Given:
    return Given()


def stored(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_parquet(path)
    return path


def as_shards(data: Given, folder: Path) -> Path:
    """Two files, of which the second has its columns in another order; an index that pandas writes along."""
    (folder / "shards").mkdir()
    whole = data.X.assign(label=data.y).set_index(pd.Index(np.arange(40) * 7))
    stored(whole[:25], folder / "shards" / "0.parquet")
    stored(whole[25:][["c", "label", "a", "b"]], folder / "shards" / "1.parquet")
    return folder / "shards"


GIVEN: dict[str, Callable[[Given, Path], tuple[Any, Any, Any]]] = {
    "files whose columns differ in order": lambda data, folder: (as_shards(data, folder), "label", data.val.to_numpy()),
    "a validation file": lambda data, folder: (
        as_shards(data, folder),
        "label",
        stored(data.val[ORDER], folder / "val.parquet"),
    ),
    "a validation table": lambda data, folder: (as_shards(data, folder), "label", data.val[ORDER]),
    "a validation file for a table": lambda data, folder: (
        data.X,
        data.y,
        stored(data.val[ORDER], folder / "val.parquet"),
    ),
    "a table": lambda data, folder: (data.X, data.y, data.val[ORDER]),
}


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("where", ["memory", "out"])
def test_another_order_of_columns_gives_the_same_scores(kind: str, where: str, tmp_path: Path, data: Given) -> None:
    wanted = ui.score_features(data.X.to_numpy(), data.y, data.val.to_numpy(), training=TRAINING)
    place: dict[str, Any] = {"out": tmp_path / "run"} if where == "out" else {}
    found = ui.score_features(*GIVEN[kind](data, tmp_path), training=TRAINING, **place)
    close(found.functional, wanted.functional, rtol=1e-10)


@pytest.mark.parametrize("kind", ["file", "table", "shard"])
def test_other_columns_are_refused_with_file_and_names(kind: str, tmp_path: Path, data: Given) -> None:
    other = data.val.rename(columns={"a": "z"})
    given: tuple[Any, ...] = (data.X, data.y, other)
    if kind == "file":
        given = (data.X, data.y, stored(other, tmp_path / "val.parquet"))
    if kind == "shard":
        shards = as_shards(data, tmp_path)
        stored(other.assign(label=0), shards / "2.parquet")
        given = (shards, "label")
    with pytest.raises(ui.InputError, match=r"column 'a' is missing and column 'z' is new, against .*(X|parquet)"):
        ui.score_features(*given, training=TRAINING)


def test_a_table_for_rows_without_names_is_refused(data: Given) -> None:
    with pytest.raises(ui.InputError, match="X_val: is a table, and X has no names of columns"):
        ui.score_features(data.X.to_numpy(), data.y, data.val)


def test_new_samples_are_looked_at_by_their_names(data: Given) -> None:
    linearization = ui.score_features(data.X, data.y, data.val, training=TRAINING).origin.run.linearization
    trained = linearization.train(TRAINING)
    close(
        trained.outputs(linearization.probe(data.val[ORDER])),
        trained.outputs(linearization.probe(data.val)),
        rtol=1e-12,
    )


def test_tables_of_a_network_are_matched_by_name(data: Given) -> None:
    torch.manual_seed(0)
    network = nn.Linear(3, 2)
    wanted = ui.score(network, (data.X, data.y), data.val, training=TRAINING, progress=False)
    found = ui.score(network, (data.X, data.y), data.val[ORDER], training=TRAINING, progress=False)
    close(found.functional, wanted.functional, rtol=1e-12)


def test_tables_of_a_network_with_other_names_are_refused(data: Given) -> None:
    with pytest.raises(ui.InputError, match="input: column 'a' is missing and column 'z' is new"):
        ui.score(nn.Linear(3, 2), (data.X, data.y), data.val.rename(columns={"a": "z"}), training=TRAINING)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_files_of_the_command_line_are_matched_by_name(suffix: str, tmp_path: Path, data: Given) -> None:
    writers: dict[str, Callable[..., object]] = {
        ".csv": partial(pd.DataFrame.to_csv, index=False),
        ".jsonl": partial(pd.DataFrame.to_json, orient="records", lines=True),
        ".parquet": pd.DataFrame.to_parquet,
    }
    write = writers[suffix]
    paths = [tmp_path / f"{name}{suffix}" for name in ("train", "val")]
    write(data.X.assign(label=data.y), paths[0])
    write(data.val[ORDER], paths[1])
    train = read(paths[0], Reading())
    val = read(paths[1], Reading().like(train), labelled=False)
    encoding = TableEncoding.fit(train.inputs, roles=train.roles)
    close(encoding(paths[1], val.inputs), ((data.val - data.X.mean()) / data.X.std(ddof=0)).to_numpy(), rtol=1e-5)
