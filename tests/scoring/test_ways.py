"""Where scores are stored, streamed or computed never changes what comes out: every way, all at their defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.oracles.compare import close
from uniqueinfo.scores.table import Scores

FEW = 5  # effects: as many as the command line keeps

NETWORK = """
import torch
from torch import nn

def make(outputs):
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, outputs))
"""


def data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)).astype(np.float32), np.arange(n) % 3


def network() -> nn.Module:
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 3))


@pytest.fixture(params=["network", "alike network", "projected network", "features", "wide features"])
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def scored(task: str, **where: Any) -> Scores:
    """By the library, at its defaults but for the way."""
    count = 60
    train, val = data(count, 0), data(20, 1)
    if task.endswith("features"):
        wide = np.random.default_rng(2).normal(size=(6, 200 if task.startswith("wide") else 6)).astype(np.float32)
        return ui.score_features(train[0] @ wide, train[1], val[0] @ wide, val[1], effects=FEW, **where)
    tensors = [tuple(map(torch.from_numpy, each)) for each in (train, val)]
    return ui.score(network(), *tensors, effects=FEW, **where)


def check_same(found: Scores, wanted: Scores) -> None:
    """To rounding: float32 rows in batches of another size leave six digits, of which a removal keeps four."""
    for name in ("weight", "functional", "value", "loo_outputs", "outputs", "targets"):
        ours, theirs = getattr(found, name), getattr(wanted, name)
        close(ours, theirs, rtol=1e-4, atol=1e-5 * float(np.abs(theirs).max()))
    assert found.settings["training"]["steps"] == wanted.settings["training"]["steps"]
    for name in ("form", "width", "projection", "projection_why", "output_average", "agreement"):
        assert found.settings.get(name) == wanted.settings.get(name), name
    assert found.effects is not None
    assert wanted.effects is not None
    close(np.abs(found.effects.change), np.abs(wanted.effects.change), rtol=1e-3, atol=1e-6)


@pytest.fixture(autouse=True)
def few_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a network of which less is to be kept, everything is made to look too dear."""
    task = request.getfixturevalue("task") if "task" in request.fixturenames else ""
    if task in ("alike network", "projected network"):
        monkeypatch.setattr("uniqueinfo.linearization.effort.RATE", 1e-3)
        monkeypatch.setattr("uniqueinfo.linearization.effort.COLUMNS", (40,) if task.startswith("projected") else ())


@pytest.mark.parametrize("way", ["folder", "out", "local", "local and out"])
def test_every_way_in_this_process(task: str, way: str, tmp_path: Path) -> None:
    where: dict[str, dict[str, Any]] = {
        "folder": {"folder": tmp_path / "folder"},
        "out": {"out": tmp_path / "out"},
        "local": {"engine": "local"},
        "local and out": {"engine": "local", "out": tmp_path / "both"},
    }
    check_same(scored(task, **where[way]), scored(task))


@pytest.mark.slow
@pytest.mark.parametrize("stored", [False, True])
def test_a_cluster(task: str, stored: bool, client: Any, tmp_path: Path) -> None:
    where = {"out": tmp_path / "out"} if stored else {}
    check_same(scored(task, engine=ui.DaskEngine(client), **where), scored(task))


@pytest.mark.parametrize("engine", [None, "local"])
def test_the_command_line(task: str, engine: str | None, tmp_path: Path, uniqueinfo: Caller) -> None:
    command: list[Any] = ["score", tmp_path / "train.npz", "--val", tmp_path / "val.npz", "--out", tmp_path / "run"]
    wide = np.random.default_rng(2).normal(size=(6, 200 if task.startswith("wide") else 6)).astype(np.float32)
    for name, (X, y) in (("train", data(60, 0)), ("val", data(20, 1))):
        np.savez(tmp_path / f"{name}.npz", X=X @ wide if task.endswith("features") else X, y=y)
    if not task.endswith("features"):
        (tmp_path / "net.py").write_text(NETWORK)
        command += ["--model", f"{tmp_path / 'net.py'}:make"]
    answer = uniqueinfo(*command, *([] if engine is None else ["--engine", engine]))
    assert answer.code == 0, answer.err
    check_same(ui.load(tmp_path / "run"), scored(task))


def test_the_choice_of_projection_is_written_down_with_its_reason(task: str) -> None:
    settings = scored(task).settings
    if task == "network":
        assert settings["projection"] == "None"
        assert settings["projection_why"] == "exact: all 93 parameters"
    elif task == "projected network":
        assert settings["projection"] == "KernelCoordinates(total=40, seed=0)"
        assert "40 of 93 weights stand for all" in settings["projection_why"]
    elif task == "alike network":
        assert (settings["projection"], settings["form_side"]) == ("None", 60)
        assert settings["output_average"] == "OutputAverage(size=3, seed=0)"
        assert "outputs taken to be alike" in settings["projection_why"]
        assert settings["agreement"]["samples"] == 60
        assert 0.9 < settings["agreement"]["functional"] < 1


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_the_ids_of_validation_samples_are_kept_wherever_scores_are(form: Any, tmp_path: Path) -> None:
    (X, y), (X_val, _) = data(60, 0), data(20, 1)
    frame, other = pd.DataFrame(X), pd.DataFrame(X_val, index=[f"photo {j}.jpg" for j in range(20)])
    held = ui.score_features(frame, y, other, effects=FEW, form=form)
    stored = ui.score_features(frame, y, other, effects=FEW, form=form, out=tmp_path / "out")
    for effects in (held.effects, stored.effects):
        assert effects is not None
        assert effects.ids is not None
        np.testing.assert_array_equal(effects.ids, other.index.to_numpy()[effects.validation])
