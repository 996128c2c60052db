"""A linear head at its defaults is as good as scikit-learn's own, and has an intercept wherever it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict, cross_val_score
from sklearn.preprocessing import StandardScaler

import uniqueinfo as ui
from tests.oracles.compare import close
from uniqueinfo.types import Floats

ALPHAS = tuple(10.0**power for power in range(-3, 6))


def standardized(load: Callable[..., Any]) -> tuple[Floats, Any]:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("name", ["load_breast_cancer", "load_wine", "load_digits"])
def test_leave_one_out_accuracy_is_that_of_scikit_learn(name: str) -> None:
    X, y = standardized(getattr(datasets, name))
    scores = ui.score_features(X, y)
    found = float((scores.loo_probabilities().argmax(axis=1) == y).mean())
    wanted = float(cross_val_score(RidgeClassifierCV(ALPHAS), X, y, cv=10).mean())
    assert found > wanted - 0.01


def test_leave_one_out_predictions_of_numbers_are_as_good_as_scikit_learns() -> None:
    X, y = standardized(datasets.load_diabetes)
    scores = ui.score_features(X, y)
    squares = float(np.square(y - y.mean()).sum())
    found = 1 - 2 * float(scores.loo_loss.sum()) / squares
    predicted = cross_val_predict(RidgeCV(ALPHAS), X, y, cv=LeaveOneOut())
    assert found > 1 - float(np.square(y - predicted).sum()) / squares - 0.01


def test_untouched_labels_are_trusted() -> None:
    X, y = standardized(datasets.load_breast_cancer)
    assert ui.mislabeled(ui.score_features(X, y)).count < 0.06 * len(y)  # a straight line gets one in twenty-five wrong


def test_scores_do_not_hang_on_the_scale_of_the_features() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    one, other = ui.score_features(X, y, X), ui.score_features(1000 * X, y, 1000 * X)
    close(one.functional, other.functional, rtol=1e-6)


def test_numbers_are_predicted_in_their_own_units() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = 5000 + 100 * X[:, 0] + rng.normal(size=40)
    scores = ui.score_features(X, y)
    assert np.abs(scores.loo_outputs[:, 0] - y).max() < 20


def test_other_samples_are_seen_with_the_intercept_too() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    origin = ui.score_features(X, y).origin
    close(origin.run.outputs(origin.run.linearization.probe(X)), origin.run.outputs(), rtol=1e-10)


def test_the_papers_head_starts_from_zero_without_an_intercept() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    training = ui.Converged(0.1)
    wanted = ui.Linearization.from_features(X, y.astype(float)).train(training).leave_out().weight_information()
    close(ui.score_features(X, y, training=training, head="paper").weight, wanted, rtol=1e-10)


def test_a_head_of_another_kind_is_refused() -> None:
    with pytest.raises(ui.InputError, match='head: expected "balanced" or "paper", got \'deep\''):
        ui.score_features(np.eye(3), [0, 1, 0], head="deep")  # type: ignore[arg-type]
