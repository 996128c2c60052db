"""The validation samples each training sample moves most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import uniqueinfo as ui
from tests.oracles import retraining
from tests.oracles.compare import close
from tests.oracles.jacobian import jacobian_rows
from tests.problems import Problem, problem
from uniqueinfo.information.effects import Effects
from uniqueinfo.spectrum import rows
from uniqueinfo.training import Training


@pytest.fixture
def given() -> Problem:
    return problem(12, 2, 7, m=9)


@pytest.fixture
def training(given: Problem) -> ui.GradientDescent:
    return ui.GradientDescent(0.5 * 12 / given.largest, 40)


def scored(given: Problem, training: Training, few: int) -> Effects:
    effects = ui.score_jacobian(given.J, given.residual, given.J_val, training=training, effects=few).effects
    assert effects is not None
    return effects


def test_the_strongest_effects_equal_training_again(given: Problem, training: Training) -> None:
    effects = scored(given, training, 4)
    delta = retraining.changes(given.J, given.residual, training, [[i] for i in range(12)])
    changes = np.einsum("mkd,nd->nmk", given.J_val, delta)  # f_w − f_w₋ᵢ on every validation sample
    order = np.argsort(-np.linalg.norm(changes, axis=2), axis=1)[:, :4]
    np.testing.assert_array_equal(effects.validation, order)
    close(effects.change, changes[np.arange(12)[:, None], order, effects.output], rtol=1e-6)
    np.testing.assert_array_equal(effects.output, np.abs(changes[np.arange(12)[:, None], order]).argmax(axis=2))


def test_small_chunks_change_nothing(given: Problem, training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scored(given, training, 3)
    monkeypatch.setattr(rows, "CHUNK_BYTES", 1000)
    close(scored(given, training, 3).change, whole.change, rtol=1e-10)


def test_no_more_are_kept_than_there_are(given: Problem, training: Training) -> None:
    assert scored(given, training, 100).few == 9


def test_they_are_off_by_default(given: Problem, training: Training) -> None:
    assert ui.score_jacobian(given.J, given.residual, given.J_val, training=training).effects is None


def test_they_are_saved_and_loaded(given: Problem, training: Training, tmp_path: Path) -> None:
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training, effects=3)
    found = ui.load(scores.save(tmp_path)).effects
    assert found is not None
    assert scores.effects is not None
    for part in ("validation", "output", "change"):
        np.testing.assert_array_equal(getattr(found, part), getattr(scores.effects, part))


def test_networks_have_them_too() -> None:
    torch.manual_seed(0)
    model, X, y = torch.nn.Linear(3, 2).double(), torch.randn(8, 3, dtype=torch.float64), torch.arange(8) % 2
    training = ui.GradientDescent(0.1, 40)
    scores = ui.score(model, (X, y), (X, None), training=training, effects=2)
    J, residual = jacobian_rows(model, X).numpy(), (torch.eye(2)[y] - model(X)).detach().numpy()
    moved = np.einsum("mkd,nd->nmk", J, retraining.changes(J, residual, training, [[i] for i in range(8)]))
    order = np.argsort(-np.linalg.norm(moved, axis=2), axis=1)[:, :2]
    assert scores.effects is not None
    np.testing.assert_array_equal(scores.effects.validation, order)
    close(scores.effects.change, moved[np.arange(8)[:, None], order, scores.effects.output], rtol=1e-6)


@pytest.mark.parametrize(("validation", "few"), [(False, 3), (True, -1)])
def test_mistakes_are_named(given: Problem, training: Training, validation: bool, few: int) -> None:
    J_val = given.J_val if validation else None
    with pytest.raises(ui.InputError, match="effects: "):
        ui.score_jacobian(given.J, given.residual, J_val, training=training, effects=few)
