"""Training run many times against what is known of it."""

from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo import InputError, StochasticTraining
from uniqueinfo.types import Floats


@pytest.fixture(name="X")
def inputs() -> Floats:
    """Inputs that say nothing."""
    return np.zeros((10, 1))


@pytest.fixture(name="Y")
def targets() -> Floats:
    """Targets 0 … 9: their mean is 4.5, and 4 without the last."""
    return np.arange(10.0)


def noisy_mean(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """W | S ~ N(mean of y, 1/4)."""
    return np.array([y.mean() + 0.5 * rng.normal()])


def noisy_means(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """The same, of many data sets."""
    means: Floats = y.mean(axis=1)[:, None] + 0.5 * rng.normal(size=(len(y), 1))
    return means


@pytest.mark.parametrize("stacked", [False, True])
def test_leaving_out_a_sample_of_a_noisy_mean(X: Floats, Y: Floats, stacked: bool) -> None:
    """The mean of y moves from 4.5 to 4, so the bound is ½ (0.5/0.5)²; with z' ~ N(4, 10²) r is N(4, 1/4 + 1)."""
    training = StochasticTraining(noisy_means if stacked else noisy_mean, X, Y, runs=1500, stacked=stacked)
    replacements = (np.zeros((300, 1)), np.random.default_rng(1).normal(4.0, 10.0, size=300))
    found = training.leave_out(9, replacements, runs_each=20)
    assert found.information is not None
    assert found.replaced is not None
    assert found.replaced.shape == (300, 20, 1)
    information = (0.25 / 1.25 + 0.25 / 1.25 - 1 + np.log(1.25 / 0.25)) / 2
    for method in ("gaussian", "knn"):
        bound, known = found.bound[method], found.information[method]
        assert bound.low < 0.5 < bound.high
        assert known.low - 0.02 < information < known.high + 0.02


def test_the_average_information_stays_below_the_average_bound(X: Floats, Y: Floats) -> None:
    """With z' ~ N(4, 10²), I = ½ log(1.25/0.25) and the bound is ½ · 1/0.25."""
    replacements = (np.zeros((120, 1)), np.random.default_rng(2).normal(4.0, 10.0, size=120))
    found = StochasticTraining(noisy_means, X, Y, stacked=True).leave_out(9, replacements, runs_each=40).expected()
    assert found.information.low - 0.05 < np.log(5) / 2 < found.information.high + 0.05
    assert found.bound.low < 2.0 < found.bound.high
    assert 0 < found.slack.low < 2.0 - np.log(5) / 2 < found.slack.high


def test_a_sample_that_changes_nothing_has_no_bound_but_information(X: Floats, Y: Floats) -> None:
    y = np.append(Y[:9], Y[:9].mean())
    replacements = (np.zeros((200, 1)), np.random.default_rng(2).normal(4.0, 10.0, size=200))
    found = StochasticTraining(noisy_means, X, y, stacked=True).leave_out(9, replacements, runs_each=50)
    assert found.slack is not None
    assert found.slack["gaussian"].high < 0


def test_runs_are_the_same_for_the_same_seed_whatever_else_is_run(X: Floats, Y: Floats) -> None:
    training = StochasticTraining(noisy_mean, X, Y, runs=30, seed=3)
    other = StochasticTraining(noisy_mean, X, Y, runs=60, seed=3)
    np.testing.assert_array_equal(training.weights(), other.weights()[:30])
    np.testing.assert_array_equal(training.leave_out(4).without_it, other.leave_out(4).without_it[:30])
    assert not np.array_equal(training.weights(), StochasticTraining(noisy_mean, X, Y, runs=30, seed=4).weights())


def test_training_that_is_not_random_is_refused(X: Floats, Y: Floats) -> None:
    def fixed(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
        return np.array([y.mean()])

    with pytest.raises(InputError, match="not random"):
        StochasticTraining(fixed, X, Y, runs=30).leave_out(0)


def test_training_with_few_outcomes_has_no_density(X: Floats, Y: Floats) -> None:
    def coin(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
        return np.array([float(rng.integers(2))])

    with pytest.raises(InputError, match="very same weights"):
        StochasticTraining(coin, X, Y, runs=30).leave_out(0)


def test_training_that_diverges_is_refused(X: Floats, Y: Floats) -> None:
    def diverging(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
        return np.array([np.nan])

    with pytest.raises(InputError, match="NaN or infinite"):
        StochasticTraining(diverging, X, Y, runs=30).weights()


def test_what_cannot_be_left_out_is_named(X: Floats, Y: Floats) -> None:
    with pytest.raises(InputError, match="samples 0 … 9, got 10"):
        StochasticTraining(noisy_mean, X, Y, runs=30).leave_out(10)
    with pytest.raises(InputError, match="as many of each"):
        StochasticTraining(noisy_mean, X, Y[:5])
    with pytest.raises(InputError, match="at least 20"):
        StochasticTraining(noisy_mean, X, Y, runs=3)
    with pytest.raises(InputError, match="needs replacements"):
        StochasticTraining(noisy_mean, X, Y, runs=30).leave_out(0).expected()
