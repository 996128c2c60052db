"""Correlations and intervals against scipy, the datamodeling score against loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from uniqueinfo.errors import InputError
from uniqueinfo.statistics.correlation import (
    lead,
    leave_one_out_correlation,
    linear_datamodeling_score,
    mean_correlation,
    partial,
    pearson,
    random_subsets,
    spearman,
)
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

Measure = Callable[[Floats, Floats], Interval]


def pairs(n: int = 40) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    truth = rng.lognormal(size=n)
    return truth + rng.normal(size=n), truth


def test_pearson_is_scipys() -> None:
    a, b = pairs()
    assert pearson(a, b).value == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)


def test_spearman_is_scipys_with_ties() -> None:
    a, b = (np.round(values) for values in pairs())
    assert spearman(a, b).value == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(pearson, lambda a, b: stats.pearsonr(a, b).statistic), (spearman, lambda a, b: stats.spearmanr(a, b).statistic)],
)
def test_intervals_are_the_bootstraps(ours: Measure, theirs: Callable[[Floats, Floats], float]) -> None:
    a, b = pairs(200)
    found = ours(a, b)
    drawn = stats.bootstrap((a, b), theirs, paired=True, vectorized=False, n_resamples=1000, method="percentile", rng=5)
    # the ends are quantiles of 1000 and 2000 draws, whose own error is about 0.005 here
    assert (found.low, found.high) == pytest.approx(drawn.confidence_interval, abs=0.02)


def test_a_partial_correlation_is_that_of_what_two_lines_leave_and_so_is_its_interval() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y, third = 0.6 * x + rng.normal(size=60), x + rng.normal(size=60)

    def left(x: Floats, y: Floats, third: Floats) -> float:
        line = np.column_stack([third, np.ones_like(third)])
        first, second = (one - line @ np.linalg.lstsq(line, one, rcond=None)[0] for one in (x, y))
        return float(stats.pearsonr(first, second).statistic)

    found = partial(x, y, third)
    drawn = stats.bootstrap((x, y, third), left, paired=True, vectorized=False, n_resamples=1000, method="percentile")
    assert found.value == pytest.approx(left(x, y, third), abs=1e-12)
    # the ends are quantiles of 1000 and 2000 draws, whose own error is about 0.01 here
    assert (found.low, found.high) == pytest.approx(drawn.confidence_interval, abs=0.05)


def test_the_mean_over_pairs_is_that_of_the_single_correlations() -> None:
    a, b = pairs()
    scores = np.stack([a, b, b**2])
    each = [stats.pearsonr(scores[i], scores[j]).statistic for i, j in ((0, 1), (1, 2))]
    found = mean_correlation(scores, [(0, 1), (1, 2)])
    assert found.value == pytest.approx(np.mean(each), abs=1e-12)
    assert found.low < found.value < found.high


def test_several_numbers_of_a_sample_are_drawn_together() -> None:
    a, b = pairs(120)
    whole, alone = pearson(a.reshape(-1, 40), b.reshape(-1, 40)), pearson(a, b)
    assert whole.value == alone.value
    repeated = pearson(np.tile(a[:, None], 3), np.tile(b[:, None], 3))
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_a_lead_is_the_difference_of_two_correlations() -> None:
    a, b = pairs()
    found = lead(a, a + b[::-1], b)
    wanted = stats.pearsonr(a, b).statistic - stats.pearsonr(a + b[::-1], b).statistic
    assert found.value == pytest.approx(wanted, abs=1e-12)
    assert found.low < found.value < found.high


def test_a_constant_measure_has_no_correlation() -> None:
    found = pearson([1.0, 2.0, 3.0], [5.0, 5.0, 5.0])
    assert np.isnan([found.value, found.low, found.high]).all()


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    a, b = pairs()
    assert pearson(a, b, seed=1) == pearson(a, b, seed=1)
    assert pearson(a, b, seed=1) != pearson(a, b, seed=2)


def test_the_datamodeling_score_is_the_mean_of_rank_correlations_over_subsets() -> None:
    rng = np.random.default_rng(0)
    effects, left_out = rng.normal(size=(30, 4)), random_subsets(30, 25, seed=3)
    truth = rng.normal(size=(25, 4)) - left_out @ effects
    by_loops = []
    for j in range(4):
        predicted = [sum(effects[i, j] for i in range(30) if not missing[i]) for missing in left_out]
        by_loops.append(stats.spearmanr(predicted, truth[:, j]).statistic)
    found = linear_datamodeling_score(effects, left_out, truth)
    assert found.value == pytest.approx(np.mean(by_loops), abs=1e-12)
    assert found.low < found.value < found.high


def test_leave_one_out_correlation_skips_samples_nothing_moves() -> None:
    rng = np.random.default_rng(0)
    predicted = rng.normal(size=(20, 3))
    real = predicted + rng.normal(size=(20, 3))
    real[:, 1] = 0.0
    wanted = [stats.spearmanr(predicted[:, j], real[:, j]).statistic for j in (0, 2)]
    found = leave_one_out_correlation(predicted, real)
    assert found.value == pytest.approx(np.mean(wanted), abs=1e-12)


def test_random_subsets_are_drawn_evenly() -> None:
    left_out = random_subsets(20, 4000, share=0.25)
    assert set(left_out.sum(axis=1)) == {5}
    np.testing.assert_allclose(left_out.mean(axis=0), 0.25, atol=0.03)  # 4 deviations of 4000 draws


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pearson([1.0, 2.0], [1.0, 2.0]), "at least 3"),
        (lambda: partial([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0]), "all of one shape"),
        (lambda: spearman([1.0, 2.0, np.nan], [1.0, 2.0, 3.0]), "not finite"),
        (lambda: linear_datamodeling_score(np.ones((3, 1)), np.ones((2, 4)), np.ones((2, 1))), "do not go together"),
        (lambda: leave_one_out_correlation(np.ones((4, 2)), np.ones((4, 2))), "nothing to rank"),
        (lambda: random_subsets(10, 3, share=1.0), "share"),
    ],
)
def test_what_cannot_be_compared_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
