"""Data that someone else made: nothing in it commands the terminal, a spreadsheet, or a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.runs.readers import files

ESCAPE = "\x1b]0;owned\x07"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose ids and labels hold escape sequences, and whose vendors are formulas."""
    frame = files.table()
    frame["id"] = [f"{ESCAPE}{number}" for number in range(len(frame))]
    frame["kind"] = [f"{kind}\x1b[2J\x9b31m\u202e" for kind in frame["kind"]]
    frame["vendor"] = np.where(np.arange(len(frame)) % 2, '=HYPERLINK("http://a.example")', "plain")
    path = tmp_path_factory.mktemp("hostile") / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_no_escape_reaches_the_terminal(hostile: Path, tmp_path: Path, uniqueinfo: Caller) -> None:
    out = tmp_path / "run"
    answers = [
        uniqueinfo("score", hostile, "--label", "kind", "--extra", "vendor", "--out", out),
        uniqueinfo("show", out, "--wide"),
        uniqueinfo("show", out, "--json"),
        uniqueinfo("mislabeled", out),
        uniqueinfo("compare", out, "--by", ESCAPE),
        uniqueinfo("show", f"{out}{ESCAPE}"),
        uniqueinfo("show", out, ESCAPE),
    ]
    assert [answer.code for answer in answers] == [0, 0, 0, 0, 2, 2, 2]
    for answer in answers:
        assert not set("\x1b\x07\x9b\u202e") & set(answer.out + answer.err)
    assert "\\x1b]0;owned\\x07" in answers[0].out
    assert json.loads(answers[2].out)["most_informative"][0]["id"].startswith(ESCAPE)


def test_formulas_are_exported_as_texts(hostile: Path, tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", hostile, "--label", "kind", "--extra", "vendor", "--out", tmp_path / "run")
    answer = uniqueinfo("mislabeled", tmp_path / "run", "--export", tmp_path / "out.csv")
    assert "cells that a spreadsheet would take for a formula" in answer.out
    vendors = pd.read_csv(tmp_path / "out.csv")["vendor"]
    assert set(vendors) == {'\'=HYPERLINK("http://a.example")', "plain"}


def test_answers_are_not_written_through_a_link(hostile: Path, tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", hostile, "--label", "kind", "--out", tmp_path / "run")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run" / "answers").symlink_to(tmp_path / "elsewhere")
    answer = uniqueinfo("mislabeled", tmp_path / "run")
    assert (answer.code, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert "answers: is a link" in answer.err


@pytest.mark.parametrize("command", ["linearize", "score", "demo"])
def test_a_folder_of_other_things_is_left_alone(tmp_path: Path, uniqueinfo: Caller, command: str) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    model, data = torch.nn.Linear(2, 1), (torch.eye(2), torch.tensor([0.0, 1.0]))
    if command == "demo":
        assert uniqueinfo("demo", "--out", tmp_path).code == 2
    else:
        with pytest.raises(ui.InputError, match=r"holds thesis\.tex and no work; name a new or empty folder"):
            getattr(ui, command)(model, data, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
