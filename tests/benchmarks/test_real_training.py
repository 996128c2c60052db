"""The benchmark of trainings people run, in its small form."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.real_training import page, tasks, truth
from benchmarks.real_training.agreement import agreement, with_each_other
from benchmarks.real_training.ours import kept, scored
from benchmarks.real_training.task import Task
from benchmarks.real_training.together import together


def small() -> Task:
    """A short MLP on some of the diabetes data."""
    task = tasks.diabetes()
    return replace(task, X=task.X[:60], y=task.y[:60], steps=30)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two orders of the batches, eight samples left out."""
    monkeypatch.setattr(page, "LEFT_OUT", 8)
    monkeypatch.setattr(page, "TASKS", {"diabetes": small})
    task = small()
    for seed in (0, 1):
        truth.truth(task, seed, truth.spread(60, 8), tmp_path / "truth" / f"diabetes-{seed}")
        for way in ("recorded", "default"):
            kept(tmp_path / "ours" / f"diabetes-{seed}-{way}.npz", partial(scored, task, seed, way))
    return tmp_path


def test_sections_that_were_not_run_again_stay(results: Path) -> None:
    place = results / "page.md"
    page.write_page(results, place)
    first = place.read_text(encoding="utf-8")
    kept = "## Something older\n\n| a | table |\n"
    place.write_text(first.replace("## Settings", f"{kept}\n## Settings"), encoding="utf-8")
    page.write_page(results, place)
    again = place.read_text(encoding="utf-8")
    assert kept in again
    assert again.replace(f"{kept}\n", "") == first


def test_the_page_has_what_was_run_and_its_ceiling(results: Path) -> None:
    page.write_page(results, results / "page.md")
    text = (results / "page.md").read_text(encoding="utf-8")
    assert "| **uniqueinfo, along the recording** |" in text
    assert "the ceiling* |" in text
    assert "with the trained network" not in text  # which was not run
    assert (results / "page" / "diabetes.png").stat().st_size > 5000


def test_scores_along_the_recording_follow_training_again(results: Path) -> None:
    found = truth.found(results / "truth" / "diabetes-0", truth.spread(60, 8))
    assert found is not None
    with np.load(results / "ours" / "diabetes-0-recorded.npz") as file:
        said = file["amount"][list(found.samples)]
    assert agreement([(said, found.amounts())]).mean > 0.85


def test_a_half_that_leaves_as_a_group_is_told_in_its_size(tmp_path: Path) -> None:
    found = together(small(), 0, share=0.5, groups=6)
    assert int(found["size"]) == 30
    assert np.abs(found["group"] - found["truth"]).mean() < np.abs(found["truth"]).mean()


def test_truths_of_one_order_have_no_ceiling() -> None:
    assert with_each_other([np.arange(4.0)]) is None
