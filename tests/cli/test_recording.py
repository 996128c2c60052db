"""A training that happened, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from tests.cli.calling import Caller

NETWORK = """
import numpy as np
import torch
from torch import nn

def make():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

def train(positions, seed):
    with np.load({data!r}) as file:
        X, y = torch.from_numpy(file["X"])[positions], torch.from_numpy(file["y"])[positions]
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for _ in range(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(X), y).backward()
        optimizer.step()
    return model
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Data, a network in a file, and the recording of its training."""
    rng = np.random.default_rng(0)
    for name, count in (("train", 30), ("val", 12)):
        X = rng.normal(size=(count, 4)).astype(np.float32)
        np.savez(tmp_path / f"{name}.npz", X=X, y=(X[:, 0] + 0.3 * rng.normal(size=count) > 0).astype(np.int64))
    (tmp_path / "net.py").write_text(NETWORK.format(data=str(tmp_path / "train.npz")))
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    with np.load(tmp_path / "train.npz") as file:
        X_train, y_train = torch.from_numpy(file["X"]), torch.from_numpy(file["y"])
    with ui.Recording(tmp_path / "recording", model, optimizer) as recording:
        for _ in range(20):
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(X_train), y_train))
            optimizer.step()
            recording.step()
    return tmp_path


def score(uniqueinfo: Caller, place: Path, *more: Any) -> Any:
    return uniqueinfo(
        *["score", place / "train.npz", "--val", place / "val.npz", "--out", place / "run"],
        *["--model", f"{place / 'net.py'}:make", "--recording", place / "recording", *more],
    )


def test_scores_follow_a_recording(uniqueinfo: Caller, place: Path) -> None:
    answer = score(uniqueinfo, place)
    assert answer.code == 0, answer.err
    assert ui.load(place / "run").settings["training"]["algorithm"] == "Recorded"
    assert ui.load(place / "run").kl is not None


def test_the_own_training_says_how_far_to_trust_them(uniqueinfo: Caller, place: Path) -> None:
    score(uniqueinfo, place)
    answer = uniqueinfo("validate", place / "run", "--with", f"{place / 'net.py'}:train", "--trust")
    assert answer.code == 0, answer.err
    assert "two runs of your training" in answer.out


def test_a_recording_and_a_rate_are_too_much(uniqueinfo: Caller, place: Path) -> None:
    answer = score(uniqueinfo, place, "--lr", "0.1", "--steps", "5")
    assert answer.code == 2
    assert "--recording: says how it was trained; leave --lr out" in answer.err
    assert not (place / "run").exists()


def test_a_recording_needs_its_network(uniqueinfo: Caller, place: Path) -> None:
    answer = uniqueinfo("score", place / "train.npz", "--out", place / "run", "--recording", place / "recording")
    assert answer.code == 2
    assert "or --model beside --recording" in answer.err


def test_a_folder_that_is_no_recording_is_named(uniqueinfo: Caller, place: Path) -> None:
    answer = uniqueinfo("score", place / "train.npz", "--out", place / "run", "--recording", place)
    assert answer.code == 2
    assert "is no folder of the recording of a training" in answer.err


def test_what_a_recording_takes_is_said_before(uniqueinfo: Caller, place: Path) -> None:
    answer = score(uniqueinfo, place, "--dry-run")
    assert answer.code == 0, answer.err
    assert "steps: the training is followed in 58 weights" in answer.out
    assert not (place / "run").exists()
