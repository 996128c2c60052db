"""What other packages are given of a training, and what is kept of their answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.real_training.case import STORIES, case
from benchmarks.real_training.peer_child import summary
from benchmarks.real_training.peers import PEERS, attributed, kept
from benchmarks.real_training.tasks import TASKS, diabetes
from benchmarks.stories.task import Task, each_loss
from tests.realdata import path


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps on 60 samples."""
    task = diabetes()
    monkeypatch.setitem(TASKS, "diabetes", lambda: replace(task, X=task.X[:60], y=task.y[:60], steps=10))


@pytest.mark.usefixtures("short")
def test_a_case_holds_the_ends_of_the_trainings(tmp_path: Path) -> None:
    found = case("diabetes", 3, tmp_path, others=2)
    model, _ = TASKS["diabetes"]().train(3)
    for name, held in model.state_dict().items():
        torch.testing.assert_close(found.trained.state_dict()[name], held)
        torch.testing.assert_close(found.ensemble[0][name], held)
    assert len(found.ensemble) == 3
    assert [rate for rate, _ in found.between] == [0.03] * 5
    assert {path.name for path in tmp_path.iterdir()} == {f"diabetes-{seed}.pt" for seed in (3, 100, 101)}


@pytest.mark.usefixtures("short")
def test_losses_are_those_of_the_task(tmp_path: Path) -> None:
    task, found = TASKS["diabetes"](), case("diabetes", 0, tmp_path)
    outputs = found.trained(found.X_val).detach()
    torch.testing.assert_close(found.each_loss(outputs, found.y_val), task.each_loss(outputs, task.y_val))


def test_the_story_model_is_asked_about_the_sentence_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task.of(path("imdb_4000.jsonl").parent, passages=30, held_out=3)
    monkeypatch.setattr(Task, "of", lambda folder: task)
    found, trained = case(STORIES, 0, tmp_path), task.trained()
    inputs, targets = task.asked(task.sentence(trained))
    assert torch.equal(found.X_val, inputs)
    assert torch.equal(found.y_val, targets)
    losses = found.each_loss(found.trained(inputs), targets)
    torch.testing.assert_close(losses, each_loss(trained, inputs, targets))


def test_effects_on_the_mean_alone_say_no_amount() -> None:
    assert "amount" not in summary(torch.ones(4, 1), 4)


def test_effects_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="1 not finite"):
        summary(torch.tensor([[1.0], [torch.nan]]), 2)


def test_what_was_computed_is_found(tmp_path: Path) -> None:
    done, failed, missing = PEERS["ekfac"], PEERS["trak-1"], PEERS["tracin"]
    for peer, report in ((done, {"seconds": 2.0}), (failed, {"error": "over 600 s", "slow": True})):
        out = tmp_path / "sgd-0" / peer.key
        out.mkdir(parents=True)
        (out / "report.json").write_text(json.dumps(report))
    np.savez(tmp_path / "sgd-0" / "ekfac" / "scores.npz", value=np.arange(3.0), amount=np.ones(3), seconds=2.0)
    found = attributed(done, "sgd", 0, tmp_path)
    assert found.value is not None
    assert (found.value.tolist(), found.seconds, found.error) == ([0, 1, 2], 2.0, "")
    assert attributed(failed, "sgd", 0, tmp_path).error == "over 600 s"
    assert kept(missing, "sgd", 0, tmp_path).error == "not run"
