"""The validation samples each training sample moves most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import uniqueinfo as ui
from tests.oracles.compare import close
from tests.problems import problem
from uniqueinfo.information import effects as module
from uniqueinfo.spectrum import rows

GIVEN = problem(12, 2, 7, m=9)
TRAINING = ui.GradientDescent(0.5 * 12 / GIVEN.largest, 40)


def all_changes() -> np.ndarray:
    """f_w − f_w₋ᵢ on every validation sample, by training again."""
    J, r = torch.from_numpy(GIVEN.J), torch.from_numpy(GIVEN.residual)
    whole = ui.Linearization.from_jacobian(J, r)
    fitted = whole.train(TRAINING).outputs(whole.probe(GIVEN.J_val))
    found = []
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        part = ui.Linearization.from_jacobian(J[rest], r[rest])
        found.append(fitted - part.train(TRAINING).outputs(part.probe(GIVEN.J_val)))
    return np.stack(found)


def scored(few: int) -> module.Effects:
    effects = ui.score_jacobian(GIVEN.J, GIVEN.residual, GIVEN.J_val, training=TRAINING, effects=few).effects
    assert effects is not None
    return effects


def test_the_strongest_effects_equal_training_again() -> None:
    effects, changes = scored(4), all_changes()
    order = np.argsort(-np.linalg.norm(changes, axis=2), axis=1)[:, :4]
    np.testing.assert_array_equal(effects.validation, order)
    close(effects.change, changes[np.arange(12)[:, None], order, effects.output], rtol=1e-6)
    np.testing.assert_array_equal(effects.output, np.abs(changes[np.arange(12)[:, None], order]).argmax(axis=2))


def test_small_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scored(3)
    monkeypatch.setattr(rows, "CHUNK_BYTES", 1000)
    close(scored(3).change, whole.change, rtol=1e-10)


def test_no_more_are_kept_than_there_are() -> None:
    assert scored(100).few == 9


def test_they_are_off_by_default() -> None:
    assert ui.score_jacobian(GIVEN.J, GIVEN.residual, GIVEN.J_val, training=TRAINING).effects is None


def test_they_are_saved_and_loaded(tmp_path: Path) -> None:
    scores = ui.score_jacobian(GIVEN.J, GIVEN.residual, GIVEN.J_val, training=TRAINING, effects=3)
    found = ui.load(scores.save(tmp_path)).effects
    assert found is not None
    assert scores.effects is not None
    for part in ("validation", "output", "change"):
        np.testing.assert_array_equal(getattr(found, part), getattr(scores.effects, part))


def test_networks_have_them_too() -> None:
    model = torch.nn.Linear(3, 2)
    X = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    scores = ui.score(model, (X, torch.arange(8) % 2), (X, None), effects=2)
    assert scores.effects is not None
    assert scores.effects.change.shape == (8, 2)


@pytest.mark.parametrize(("J_val", "few"), [(None, 3), (GIVEN.J_val, -1)])
def test_mistakes_are_named(J_val: object, few: int) -> None:
    with pytest.raises(ui.InputError, match="effects: "):
        ui.score_jacobian(GIVEN.J, GIVEN.residual, J_val, training=TRAINING, effects=few)
