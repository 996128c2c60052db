"""The automatic stopping time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests import realdata
from tests.oracles import retraining
from tests.problems import problem
from uniqueinfo import GradientDescent, Linearization, linearize, stopping_curve
from uniqueinfo.experiments.networks import mlp


@pytest.mark.parametrize("shape", [(12, 30), (25, 6)])
@pytest.mark.parametrize("outputs", [1, 2])
def test_the_curve_is_the_leave_one_out_error_of_every_time(shape: tuple[int, int], outputs: int) -> None:
    given = problem(shape[0], outputs, shape[1])
    curve = stopping_curve(Linearization.from_jacobian(given.J, given.residual))
    for at in (0, 3, 8, 15):
        training = GradientDescent(curve.lr, int(curve.steps[at]))
        misses = [
            given.J[i] @ retraining.weights(given.J, given.residual, training, [i]) - given.residual[i]
            for i in range(shape[0])
        ]
        np.testing.assert_allclose(curve.error[at], np.square(misses).sum() / (2 * shape[0]), rtol=1e-6)


def test_noise_stops_training_before_its_end() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50)) * np.logspace(0, -1.5, 50)
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    curve = stopping_curve(Linearization.from_features(X, y))
    assert 1 < curve.best.steps < curve.steps[-1]
    assert curve.error.min() < 0.7 * curve.error[-1]


@pytest.mark.parametrize(("samples", "entry", "rate"), [(1, 1.0, 1 / 3), (4, 0.0, 1.0)], ids=["one", "zeros"])
def test_where_the_others_teach_nothing_there_is_still_a_training(samples: int, entry: float, rate: float) -> None:
    """One sample alone, at half of its stable rate 2/λ; and rows of zeros, at any rate: a residual of 1 stays."""
    curve = stopping_curve(Linearization.from_jacobian(np.full((samples, 1, 3), entry), np.ones((samples, 1))))
    assert curve.best.lr == pytest.approx(rate)
    np.testing.assert_allclose(curve.error, 0.5, rtol=1e-12)


def test_wrong_labels_of_mnist_stop_training_where_clean_accuracy_peaks() -> None:
    digits = realdata.arrays("mnist_4v9.npz")
    X, X_val = (torch.from_numpy(digits[name].reshape(-1, 784) / 255.0).float() for name in ("x_train", "x_val"))
    y, y_val = digits["y_train"] == 9, digits["y_val"] == 9
    wrong = np.random.default_rng(0).random(1000) < 0.1
    torch.manual_seed(0)
    linearization = linearize(mlp(), (X, (y ^ wrong).astype(int)), X_val, projection=None)
    curve = stopping_curve(linearization)

    def accuracy(training: GradientDescent) -> float:
        outputs = linearization.train(training).outputs(linearization.validation)
        return float(((outputs[:, 0] > 0.5) == y_val).mean())

    assert 20 < curve.best.lr * curve.best.steps < 200
    assert accuracy(curve.best) > 0.95
    assert accuracy(curve.best) > accuracy(GradientDescent(0.001, 2_000)) + 0.01
    assert accuracy(curve.best) > accuracy(GradientDescent(0.001, 2_000_000)) + 0.01
