"""Scores handed over beside a network and its data are of these, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import uniqueinfo as ui

TRAINING = ui.GradientDescent(lr=0.05, steps=20)


def problem(seed: int = 0) -> tuple[nn.Module, tuple[Any, Any], Any]:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    X = rng.normal(size=(24, 3)).astype(np.float32)
    return nn.Linear(3, 1), (X, (X[:, 0] > 0).astype(int)), rng.normal(size=(8, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("which", "words"), [(0, "another network"), (1, "other training samples"), (2, "other validation samples")]
)
@pytest.mark.parametrize("saved", [False, True])
def test_scores_of_something_else_are_refused(which: int, words: str, saved: bool, tmp_path: Path) -> None:
    model, train, val = problem()
    scores: ui.Scores = ui.score(model, train, val, training=TRAINING, progress=False)
    if saved:
        scores = ui.load(scores.save(tmp_path / "run"))
    given = list(problem())
    given[which] = problem(1)[which]
    with pytest.raises(ui.InputError, match=f"scores: they are of {words} than are handed over"):
        ui.validate(*given, scores=scores, progress=False)


def test_scores_of_the_same_are_taken() -> None:
    model, train, val = problem()
    scores = ui.score(model, train, val, training=TRAINING, progress=False)
    again = (torch.from_numpy(train[0]), torch.from_numpy(train[1]))  # as another kind of array
    assert len(ui.validate(model, again, val, scores=scores, samples=[0, 5, 9], progress=False).samples) == 3


def test_ones_own_loop_looks_at_the_same_validation_samples() -> None:
    model, train, val = problem()
    scores = ui.score(model, train, val, training=TRAINING, progress=False)
    with pytest.raises(ui.InputError, match="other validation samples"):
        ui.validate(scores, val=problem(1)[2], train_function=lambda positions, seed: model)
