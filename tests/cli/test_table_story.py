"""A table as tables are: empty cells, a column of dates, ids that repeat, and a vendor whose labels are drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.calling import Answer, Caller

ROWS = 240
OPTIONS = ("--label", "churned", "--extra", "vendor", "--fill", "median", "--number")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    age, income = rng.normal(40, 10, ROWS).round(1), rng.lognormal(3, 0.4, ROWS).round(2)
    vendor = np.array(["acme", "best", "cheapo"])[np.arange(ROWS) % 3]
    churned = (age / 10 + income / 10 + 0.2 * rng.normal(size=ROWS) > 6).astype(int)
    churned = np.where(vendor == "cheapo", rng.integers(0, 2, ROWS), churned)
    colour = np.where(rng.random(ROWS) < 0.5, "red", "blue").astype(object)
    days = pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d")
    table = pd.DataFrame(
        {"id": [f"c{i}" for i in range(ROWS)], "age": age, "income": income, "colour": colour, "signup": days}
    ).assign(vendor=vendor, churned=churned)
    table.loc[[4, 10], "age"] = np.nan
    table.loc[7, "income"] = np.nan
    table.loc[9, "colour"] = None
    table.loc[21, "id"] = "c20"
    path = tmp_path_factory.mktemp("story") / "customers.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def scored(uniqueinfo: Caller, data: Path, tmp_path: Path) -> Answer:
    return uniqueinfo("score", data, *OPTIONS, "--out", tmp_path / "run")


def test_the_first_refusal_names_everything_that_is_empty(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    said = uniqueinfo("score", data, "--label", "churned", "--out", tmp_path / "run")
    assert said.code == 2
    assert "'age' in 2 rows (first row 4) and 'income' in 1 row (first row 7)" in said.err
    assert not (tmp_path / "run").exists()


def test_the_next_refusal_names_the_id_and_its_rows(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    said = uniqueinfo("score", data, "--label", "churned", "--fill", "median", "--out", tmp_path / "run")
    assert said.code == 2
    assert "id c20 names 2 samples (rows 20, 21, counted from 0)" in said.err
    assert "--number" in said.err


def test_one_command_scores_it(scored: Answer, tmp_path: Path) -> None:
    assert scored.code == 0, scored.err
    table = pd.read_parquet(tmp_path / "run" / "scores.parquet")
    assert "c20" in table["id (given)"].tolist()
    assert {"signup", "vendor"} <= set(table.columns)


def test_what_was_done_is_said_on_the_terminal_and_kept(scored: Answer, tmp_path: Path) -> None:
    notes = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["notes"]
    assert any("hold the median of the training rows" in note and "'age' in 2 rows" in note for note in notes)
    assert any("a category of their own: 'colour' in 1 row" in note for note in notes)
    assert any("as they hold dates: signup" in note for note in notes)
    assert all(f"Note: {note}" in scored.out for note in notes)


def test_what_was_done_is_said_in_the_page(scored: Answer, tmp_path: Path) -> None:
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "empty cells hold the median of the training rows (--fill median)" in page


def test_the_bad_vendor_is_found(uniqueinfo: Caller, scored: Answer, tmp_path: Path) -> None:
    said = uniqueinfo("compare", tmp_path / "run", "--by", "vendor")
    assert "Samples of cheapo carry the most information" in said.out
    assert "because they are contradicted" in said.out


def test_rows_with_empty_cells_can_be_left_out(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    options = [*OPTIONS[:4], "--fill", "drop", "--number"]
    said = json.loads(uniqueinfo("score", data, *options, "--out", tmp_path / "run", "--json").out)
    assert any("4 rows are left out (--fill drop)" in note for note in said["notes"])


def test_other_data_may_lack_the_vendor(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    val = tmp_path / "val.csv"
    pd.read_csv(data).drop(columns="vendor").tail(60).to_csv(val, index=False)
    assert uniqueinfo("score", data, "--val", val, *OPTIONS, "--out", tmp_path / "run").code == 0
