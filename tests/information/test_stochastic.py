"""Divergences from draws against closed forms, and training run many times against what is known of it."""

from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo import InputError, StochasticTraining
from uniqueinfo.information.stochastic.divergence import (
    gaussian_divergence,
    intervals,
    knn_divergence,
    mixture_divergence,
    mixture_information,
)
from uniqueinfo.types import Floats

X = np.zeros((10, 1))
Y = np.arange(10.0)


def noisy_mean(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """W | S ~ N(mean of y, 1/4)."""
    return np.array([y.mean() + 0.5 * rng.normal()])


def noisy_means(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """The same, of many data sets."""
    means: Floats = y.mean(axis=1)[:, None] + 0.5 * rng.normal(size=(len(y), 1))
    return means


def gaussians(seed: int = 0, n: int = 4000) -> tuple[Floats, Floats, float]:
    """Draws of two Gaussians in three dimensions, and their divergence."""
    rng = np.random.default_rng(seed)
    A = np.array([[1.0, 0, 0], [0.5, 0.8, 0], [0, 0.3, 1.2]])
    mean = np.array([0.3, -0.5, 0.2])
    S = A @ A.T
    wanted = (mean @ mean + np.trace(S) - 3 - np.linalg.slogdet(S)[1]) / 2
    return mean + rng.normal(size=(n, 3)) @ A.T, rng.normal(size=(n, 3)), float(wanted)


@pytest.mark.parametrize("estimate", [gaussian_divergence, knn_divergence])
def test_the_divergence_of_gaussians_lies_in_its_interval(estimate: object) -> None:
    p, q, wanted = gaussians()
    [found] = intervals(lambda p, q: [estimate(p, q)], (p, q), np.random.default_rng(1))  # type: ignore[operator]
    assert found.low < wanted < found.high
    assert found.high - found.low < 0.35 * wanted


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    hits = 0
    for seed in range(40):
        p, q, wanted = gaussians(seed, n=400)
        [found] = intervals(lambda p, q: [gaussian_divergence(p, q)], (p, q), np.random.default_rng(seed))
        hits += found.low < wanted < found.high
    assert hits >= 34  # of 40; 38 expected


def test_halves_take_off_the_bias_of_few_draws() -> None:
    rng = np.random.default_rng(0)
    plain, mended = [], []
    for _ in range(40):
        p, q = rng.normal(size=(2, 60, 3))
        plain.append(gaussian_divergence(p, q))
        mended.append(intervals(lambda p, q: [gaussian_divergence(p, q)], (p, q), rng)[0].value)
    assert abs(np.mean(mended)) < 0.3 * np.mean(plain)


def test_neighbours_see_shapes_that_gaussians_do_not() -> None:
    rng = np.random.default_rng(0)
    p = rng.normal(size=(4000, 1)) * 0.1 + rng.choice([-1.0, 1.0], size=(4000, 1))
    q = rng.normal(size=(4000, 1)) * p.std() + p.mean()
    wanted = np.mean([_log_two_peaks(w) for w in p[:, 0]]) - np.mean(
        -(q**2) / 2 / p.var() - np.log(2 * np.pi * p.var()) / 2
    )
    assert gaussian_divergence(p, q) < 0.01
    assert abs(knn_divergence(p, q) - wanted) < 0.1


def _log_two_peaks(w: float) -> float:
    peaks = np.exp(-np.square(w - np.array([-1.0, 1.0])) / 0.02) / np.sqrt(2 * np.pi * 0.01)
    return float(np.log(peaks.mean()))


def test_a_mixture_of_one_part_is_a_gaussian() -> None:
    p, q, _ = gaussians()
    np.testing.assert_allclose(mixture_divergence(p, q[None]), gaussian_divergence(p, q), atol=1e-3)


def test_information_is_the_mean_divergence_from_the_mixture() -> None:
    parts = np.random.default_rng(0).normal(size=(5, 300, 2)) + np.arange(5)[:, None, None]
    wanted = np.mean([mixture_divergence(part, parts) for part in parts])
    np.testing.assert_allclose(mixture_information(parts), wanted, rtol=1e-10)


@pytest.mark.parametrize("stacked", [False, True])
def test_leaving_out_a_sample_of_a_noisy_mean(stacked: bool) -> None:
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


def test_the_average_information_stays_below_the_average_bound() -> None:
    """With z' ~ N(4, 10²), I = ½ log(1.25/0.25) and the bound is ½ · 1/0.25."""
    replacements = (np.zeros((120, 1)), np.random.default_rng(2).normal(4.0, 10.0, size=120))
    found = StochasticTraining(noisy_means, X, Y, stacked=True).leave_out(9, replacements, runs_each=40).expected()
    assert found.information.low - 0.05 < np.log(5) / 2 < found.information.high + 0.05
    assert found.bound.low < 2.0 < found.bound.high
    assert found.slack.low > 0


def test_a_sample_that_changes_nothing_has_no_bound_but_information() -> None:
    y = np.append(Y[:9], Y[:9].mean())
    replacements = (np.zeros((200, 1)), np.random.default_rng(2).normal(4.0, 10.0, size=200))
    found = StochasticTraining(noisy_means, X, y, stacked=True).leave_out(9, replacements, runs_each=50)
    assert found.slack is not None
    assert found.slack["gaussian"].high < 0


def test_runs_are_the_same_for_the_same_seed_whatever_else_is_run() -> None:
    training = StochasticTraining(noisy_mean, X, Y, runs=30, seed=3)
    other = StochasticTraining(noisy_mean, X, Y, runs=60, seed=3)
    np.testing.assert_array_equal(training.weights(), other.weights()[:30])
    np.testing.assert_array_equal(training.leave_out(4).without_it, other.leave_out(4).without_it[:30])
    assert not np.array_equal(training.weights(), StochasticTraining(noisy_mean, X, Y, runs=30, seed=4).weights())


def test_training_that_is_not_random_is_refused() -> None:
    def fixed(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
        return np.array([y.mean()])

    with pytest.raises(InputError, match="not random"):
        StochasticTraining(fixed, X, Y, runs=30).leave_out(0)


def test_training_with_few_outcomes_has_no_density() -> None:
    def coin(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
        return np.array([float(rng.integers(2))])

    with pytest.raises(InputError, match="very same weights"):
        StochasticTraining(coin, X, Y, runs=30).leave_out(0)


def test_training_that_diverges_is_refused() -> None:
    def diverging(X: Floats, y: Floats, rng: np.random.Generator) -> Floats:
        return np.array([np.nan])

    with pytest.raises(InputError, match="NaN or infinite"):
        StochasticTraining(diverging, X, Y, runs=30).weights()


def test_what_cannot_be_left_out_is_named() -> None:
    with pytest.raises(InputError, match="samples 0 … 9, got 10"):
        StochasticTraining(noisy_mean, X, Y, runs=30).leave_out(10)
    with pytest.raises(InputError, match="as many of each"):
        StochasticTraining(noisy_mean, X, Y[:5])
    with pytest.raises(InputError, match="at least 20"):
        StochasticTraining(noisy_mean, X, Y, runs=3)
    with pytest.raises(InputError, match="needs replacements"):
        StochasticTraining(noisy_mean, X, Y, runs=30).leave_out(0).expected()
