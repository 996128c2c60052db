"""The automatic training by another loss than squared error: its weight decay and its time."""

from __future__ import annotations

import numpy as np
import pytest

import uniqueinfo as ui
from tests.oracles import any_loss
from tests.oracles.compare import close
from uniqueinfo.removal import loss_curve
from uniqueinfo.removal.loss_curve import LossCurve, stopping_curve
from uniqueinfo.removal.trained import LocalSums
from uniqueinfo.training import GradientFlow
from uniqueinfo.types import Floats

AUTO = ui.Auto(loss="cross-entropy")


class Labelled:
    """Samples of two classes whose directions differ in size, all of them telling as much about the label."""

    def __init__(self, samples: int, width: int, size: float, seed: int) -> None:
        self.rng, self.width = np.random.default_rng(seed), width
        self.X = self._drawn(samples)
        self.weights = size * self.rng.normal(size=width)
        self.y = self._labels(self.X)

    def curve(self) -> LossCurve:
        linearization = ui.Linearization.from_jacobian(self.X[:, None], self.y[:, None])
        run = linearization.train(GradientFlow(1.0, 1.0, loss="cross-entropy"))
        return stopping_curve(LocalSums(run), AUTO, run.block(np.arange(len(self.X))[:, None]))

    def loss(self, training: GradientFlow, samples: int) -> float:
        """Of fresh samples, after training on all."""
        linearization = ui.Linearization.from_jacobian(self.X[:, None], self.y[:, None])
        fresh = self._drawn(samples)
        outputs = linearization.train(training).outputs(linearization.probe(fresh[:, None]))[:, 0]
        return float(_loss(outputs, self._labels(fresh)).mean())

    def left_out(self, training: GradientFlow) -> float:
        """The mean loss of samples that were really trained without."""
        J, y, start = self.X[:, None], self.y[:, None], np.zeros((len(self.X), 1))
        outputs = [J[i, 0] @ any_loss.weights(J, y, start, training, [i]) for i in range(len(self.X))]
        return float(_loss(np.array(outputs), self.y).mean())

    def _drawn(self, samples: int) -> Floats:
        found: Floats = self.rng.normal(size=(samples, self.width)) / np.arange(1, self.width + 1)
        return found

    def _labels(self, X: Floats) -> Floats:
        return (self.rng.random(len(X)) < 1 / (1 + np.exp(-X @ self.weights))).astype(float)


def _loss(outputs: Floats, y: Floats) -> Floats:
    found: Floats = np.logaddexp(0, outputs) - y * outputs
    return found


def without_decay(curve: LossCurve) -> GradientFlow:
    """The best stopping time alone."""
    return GradientFlow(curve.lr, float(curve.times[curve.error[0].argmin()]), loss="cross-entropy")


def test_training_again_without_each_sample_agrees_with_the_choice() -> None:
    given = Labelled(20, 4, size=6.0, seed=5)
    curve = given.curve()
    chosen, stopped = given.left_out(curve.best), given.left_out(without_decay(curve))
    assert curve.best.weight_decay * curve.lr == pytest.approx(1e-2)
    assert chosen <= stopped
    close([curve.error[3].min(), curve.error[0].min()], [chosen, stopped], rtol=0.15)  # of first order in the removal


def test_a_decay_is_chosen_where_fresh_samples_gain_by_it() -> None:
    given = Labelled(300, 100, size=10.0, seed=4)
    curve = given.curve()
    assert curve.best.weight_decay > 0
    assert given.loss(curve.best, 20_000) < 0.99 * given.loss(without_decay(curve), 20_000)


def test_what_was_tried_is_said_and_what_gets_worse_is_not_tried() -> None:
    """A small problem without noise: every decay only holds back, so that the third is not tried."""
    rng = np.random.default_rng(0)
    given = Labelled(30, 3, size=20.0, seed=0)
    given.y = (given.X @ rng.normal(size=3) > 0).astype(float)
    curve = given.curve()
    said = curve.settings()
    close(said["decays"], np.array(loss_curve.DECAYS[:3]) / curve.lr, rtol=1e-12)
    assert np.all(np.diff(said["least_loss"]) > 0)
    assert said["loo_loss"] == curve.error[0].tolist()
    assert curve.best == without_decay(curve)


def test_rows_of_zeros_still_have_a_training() -> None:
    linearization = ui.Linearization.from_jacobian(np.zeros((4, 1, 2)), np.ones((4, 1)))
    run = linearization.train(GradientFlow(1.0, 1.0, loss="cross-entropy"))
    curve = stopping_curve(LocalSums(run), AUTO, run.block(np.arange(4)[:, None]))
    assert (curve.best.lr, curve.best.weight_decay, curve.settings()["decays"]) == (1.0, 0.0, [0.0])
    close(curve.error, np.full_like(curve.error, np.log(2)), rtol=1e-12)
