"""Divergences from draws against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import steadystate
from uniqueinfo.information.stochastic.divergence import (
    gaussian_divergence,
    intervals,
    knn_divergence,
    mixture_divergence,
    mixture_information,
)
from uniqueinfo.types import Floats


def gaussians(seed: int = 0, n: int = 4000) -> tuple[Floats, Floats, float]:
    """Draws of two Gaussians in three dimensions, and their divergence."""
    rng = np.random.default_rng(seed)
    A = np.array([[1.0, 0, 0], [0.5, 0.8, 0], [0, 0.3, 1.2]])
    mean = np.array([0.3, -0.5, 0.2])
    wanted = steadystate.divergence(mean, A @ A.T, np.eye(3))
    return mean + rng.normal(size=(n, 3)) @ A.T, rng.normal(size=(n, 3)), wanted


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
