from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from uniqueinfo.statistics.bootstrap import bootstrap, mean_correlation, partial, pearson, ratio_of_means, spearman
from uniqueinfo.types import Floats

RNG = np.random.default_rng(3)
X = RNG.normal(size=200)
Y = 0.6 * X + RNG.normal(size=200)


def _pearson(x: Floats, y: Floats) -> float:
    return float(stats.pearsonr(x, y)[0])


def test_pearson_and_its_interval_are_scipys() -> None:
    found = pearson(X, Y)
    oracle = stats.bootstrap(
        (X, Y),
        _pearson,
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=2000,
    )
    assert found.value == pytest.approx(stats.pearsonr(X, Y)[0], abs=1e-12)
    # The ends of either interval are quantiles of 2000 draws, whose own error is about 0.003 here.
    assert (found.low, found.high) == pytest.approx(oracle.confidence_interval, abs=0.015)


def test_spearman_is_scipys() -> None:
    assert spearman(X, np.exp(Y)).value == pytest.approx(stats.spearmanr(X, Y)[0], abs=1e-12)


def test_a_partial_correlation_is_that_of_its_formula() -> None:
    third = X + RNG.normal(size=200)
    xy, xz, yz = _pearson(X, Y), _pearson(X, third), _pearson(Y, third)
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert partial(X, Y, third).value == pytest.approx(expected, abs=1e-12)


def test_the_mean_over_pairs_is_that_of_the_single_correlations() -> None:
    scores = np.stack([X, Y, Y**2])
    each = [stats.pearsonr(scores[a], scores[b])[0] for a, b in ((0, 1), (1, 2))]
    assert mean_correlation(scores, [(0, 1), (1, 2)]).value == pytest.approx(np.mean(each), abs=1e-12)


def test_the_interval_of_a_mean_is_that_of_the_central_limit() -> None:
    found = bootstrap(X, lambda drawn: drawn.mean(axis=-1))
    error = X.std() / np.sqrt(len(X))
    wanted = (X.mean() - 1.96 * error, X.mean() + 1.96 * error)
    assert (found.low, found.high) == pytest.approx(wanted, abs=0.15 * error)


def test_groups_that_do_not_differ_have_an_interval_around_one() -> None:
    first, second = np.exp(RNG.normal(size=(2, 100)))
    found = ratio_of_means(first, second)
    assert found.low < 1 < found.high


def test_the_same_seed_gives_the_same_interval() -> None:
    assert pearson(X, Y, seed=5) == pearson(X, Y, seed=5)
