"""Momentum that still swings when training ends is followed, step by step where that can be, and never refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import uniqueinfo as ui
from tests.oracles.compare import close

SAMPLES = 12


def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, 3)) * np.array([3.0, 1.0, 0.2])
    return X, X @ rng.normal(size=3) + rng.normal(size=SAMPLES)


def descent(momentum: float, steps: int, share: float) -> ui.GradientDescent:
    """At a share of the largest stable rate."""
    largest = float(np.linalg.eigvalsh(problem()[0].T @ problem()[0]).max()) / SAMPLES
    return ui.GradientDescent(share * 2 * (1 + momentum) / largest, steps, momentum=momentum)


@pytest.mark.parametrize("momentum", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("steps", [20, 100, 250])
def test_swinging_momentum_equals_the_loop(momentum: float, steps: int) -> None:
    X, y = problem()
    training = descent(momentum, steps, 0.5)
    scores = ui.score_jacobian(X[:, None], y[:, None], training=training, progress=False)
    kept = np.arange(SAMPLES) != 4
    weights = velocity = np.zeros(3)
    for _ in range(steps):
        velocity = momentum * velocity + X[kept].T @ (X[kept] @ weights - y[kept]) / kept.sum()
        weights = weights - training.lr * velocity
    close(scores.loo_outputs[4], X[4:5] @ weights, rtol=1e-6)


@pytest.mark.parametrize("momentum", [0.9, 0.998])
@pytest.mark.parametrize("steps", [100, 2000])
def test_no_momentum_is_refused(momentum: float, steps: int) -> None:
    X, y = problem()
    for share in (0.1, 0.9):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r".* is followed as .*: as long, without its swinging\.")
            found = ui.score_jacobian(X[:, None], y[:, None], training=descent(momentum, steps, share), progress=False)
        assert np.isfinite(found.weight).all()
