"""The page from Python: the same as the command line writes, with the samples and answers that are handed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uniqueinfo as ui
from tests.cli.calling import Caller


@pytest.fixture
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, np.where(X[:, 0] > 0, "hot", "cold")


@pytest.fixture
def scores(data: tuple[Any, Any]) -> ui.Scores:
    X, y = data
    return ui.score_features(X, y, X[:8], y[:8], training=ui.Converged(0.1))


def test_the_page_of_a_saved_run_is_what_the_command_writes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, scores: ui.Scores, tmp_path: Path
) -> None:
    run = scores.save(tmp_path / "run")
    found = ui.report(ui.load(run)).read_bytes()
    assert Caller(capsys, monkeypatch)("report", run).code == 0
    assert (run / "report.html").read_bytes() == found


def test_a_folder_made_by_out_gets_its_page(data: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = data
    found = ui.score_features(X, y, X[:8], y[:8], training=ui.Converged(0.1), out=tmp_path / "run")
    assert ui.report(found) == tmp_path / "run" / "report.html"


def test_the_page_of_scores_in_memory_lies_here(
    monkeypatch: pytest.MonkeyPatch, scores: ui.Scores, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ui.report(scores) == Path("report.html")
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize(
    "make",
    [
        lambda: [f"text {i}" for i in range(40)],
        lambda: pd.DataFrame({"words": [f"text {i}" for i in range(40)]}),
        lambda: lambda i: f"text {i}",
    ],
    ids=["list", "table", "function"],
)
def test_samples_are_shown_as_they_are_handed_over(scores: ui.Scores, tmp_path: Path, make: Any) -> None:
    page = ui.report(scores, tmp_path / "page.html", samples=make()).read_text(encoding="utf-8")
    assert f"text {scores.information.argmax()}" in page


def test_an_answer_becomes_a_section(scores: ui.Scores, tmp_path: Path) -> None:
    page = ui.report(scores, tmp_path / "page.html", answers=[ui.redundancy(scores)]).read_text(encoding="utf-8")
    assert 'id="answer-redundancy"' in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"samples": ["one"]}, "there are 40 samples, and 1 to show"),
        ({"samples": "photos"}, "expected a list with a picture, text or row for each sample"),
        ({"answers": ["mislabeled"]}, "expected what questions such as ui.mislabeled give"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_is_written(
    scores: ui.Scores, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ui.InputError, match=said):
        ui.report(scores, tmp_path / "page.html", **given)
    assert not (tmp_path / "page.html").exists()


def test_a_folder_is_no_page(scores: ui.Scores, tmp_path: Path) -> None:
    with pytest.raises(ui.InputError, match=r"is a folder; name the file"):
        ui.report(scores, tmp_path)
