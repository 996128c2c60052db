"""The benchmark of trainings people run, in its small form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_training
from benchmarks.real_training_page import write_page


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Two short seeds of the MLP on diabetes, eight samples left out."""
    monkeypatch.setattr(real_training, "_LEFT_OUT", 8)
    task = real_training.diabetes()
    short = replace(task, X=task.X[:60], y=task.y[:60], steps=30)
    runs = []
    for seed in (0, 1):
        real = real_training.truth(short, seed)
        about = {"title": short.title, "loss": short.loss, "count": 60}
        runs.append({**about, **real, **real_training.scored(short, seed)})
    return real_training.summary("diabetes", runs)


def test_scores_along_the_recording_follow_training_again(found: dict[str, dict[str, list[float]]]) -> None:
    assert np.mean(found["agreement"]["recorded amount"]) > 0.85


def test_the_page_has_a_table_and_a_figure_of_every_problem(found: dict[str, object], tmp_path: Path) -> None:
    write_page([found], tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| along the recording" in text
    assert "another order of the batches" in text
    assert (tmp_path / "page" / "diabetes.png").stat().st_size > 5000
