"""Decisions become a cleaned table or folder; nothing is changed in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cli.calling import Caller
from tests.review.runs_to_review import digit_table, scored
from uniqueinfo.review.decisions import Decision

TABLE = {"d00": ("relabel", "zero"), "d01": ("drop", None), "d02": ("keep", None), "d40": ("unsure", None)}


def written(path: Path, made: dict[str, tuple[Any, str | None]], given: dict[str, str]) -> Path:
    lines = [
        Decision(name, kind, given=given[name], by="Ann", label=label).line() for name, (kind, label) in made.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def labels(frame: pd.DataFrame) -> dict[str, str]:
    return dict(zip(frame["id"], frame["label"].astype(str), strict=True))


def test_a_table_comes_back_with_labels_mended_and_all_else_untouched(
    uniqueinfo: Caller, table_run: Path, tmp_path: Path
) -> None:
    before = digit_table()
    file = written(tmp_path / "decisions.jsonl", TABLE, labels(before))
    answer = uniqueinfo("clean", table_run, "--decisions", file, "--out", tmp_path / "clean.csv")
    assert answer.code == 0
    assert "89 samples" in answer.out
    after = pd.read_csv(tmp_path / "clean.csv")
    expected = before[before["id"] != "d01"].reset_index(drop=True)
    expected.loc[0, "label"] = "zero"
    pd.testing.assert_frame_equal(after.drop(columns="note"), expected.drop(columns="note"))
    assert set(after["note"].str[0]) == {"'"}  # formulas are text


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_other_tables_stay_of_their_kind_and_numbers_stay_numbers(
    uniqueinfo: Caller, tmp_path: Path, suffix: str
) -> None:
    frame = digit_table().assign(label=lambda found: found["label"].map({"zero": 0, "one": 1, "two": 2}))
    source = tmp_path / f"digits{suffix}"
    frame.to_parquet(source) if suffix == ".parquet" else frame.to_json(source, orient="records", lines=True)
    run = scored(source, tmp_path / "run")
    file = written(tmp_path / "decisions.jsonl", {"d00": ("relabel", "0"), "d01": ("drop", None)}, labels(frame))
    out = tmp_path / f"clean{suffix}"
    assert uniqueinfo("clean", run, "--decisions", file, "--out", out).code == 0
    after = pd.read_parquet(out) if suffix == ".parquet" else pd.read_json(out, lines=True)
    assert after["label"].tolist() == [0, *frame["label"][2:]]
    assert after["note"].tolist() == [frame["note"][0], *frame["note"][2:]]


@pytest.mark.parametrize("copy", [False, True])
def test_a_folder_becomes_class_folders_of_links_or_copies(
    uniqueinfo: Caller, folder_run: Path, tmp_path: Path, copy: bool
) -> None:
    before = digit_table()["label"]
    names = [f"{label}/d{row:02}.png" for row, label in enumerate(before)]
    given = dict(zip(names, before, strict=True))
    file = written(tmp_path / "decisions.jsonl", {names[0]: ("relabel", "zero"), names[1]: ("drop", None)}, given)
    out = tmp_path / "clean"
    asked = ["clean", folder_run, "--decisions", file, "--out", out, *(["--copy"] if copy else [])]
    assert uniqueinfo(*asked).code == 0
    found = {path.relative_to(out).as_posix(): path for path in out.rglob("*.png")}
    assert set(found) == {"zero/d00.png", *names[2:]}
    assert all(path.is_symlink() != copy and path.stat().st_size for path in found.values())
    assert uniqueinfo(*asked).code == 2  # it is there already


def test_what_cannot_be_cleaned_is_refused_and_nothing_is_written(
    uniqueinfo: Caller, table_run: Path, folder_run: Path, tmp_path: Path
) -> None:
    given = labels(digit_table())
    source = Path(json.loads((table_run / "run.json").read_text())["paths"]["train"])
    before = source.read_bytes()
    fine = written(tmp_path / "fine.jsonl", TABLE, given)
    strange = written(tmp_path / "strange.jsonl", {"d00": ("relabel", "nine")}, given)
    other = written(tmp_path / "other.jsonl", {"d00": ("keep", None)}, {"d00": "other"})
    cases = {
        "nothing was decided": ["clean", table_run, "--out", tmp_path / "x.csv"],
        "never changed": ["clean", table_run, "--decisions", fine, "--out", source],
        "none of the classes": ["clean", table_run, "--decisions", strange, "--out", tmp_path / "x.csv"],
        "when its label was 'other'": ["clean", table_run, "--decisions", other, "--out", tmp_path / "x.csv"],
        "which this run does not have": ["clean", folder_run, "--decisions", fine, "--out", tmp_path / "x"],
        "ends in .csv": ["clean", table_run, "--decisions", fine, "--out", tmp_path / "x.txt"],
    }
    for words, asked in cases.items():
        answer = uniqueinfo(*asked)
        assert answer.code == 2
        assert words in answer.err
    assert source.read_bytes() == before
    assert not (tmp_path / "x.csv").exists()
