"""Intervals of means and of their ratios."""

from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo.statistics import bootstrap as module
from uniqueinfo.statistics.bootstrap import DRAWS, bootstrap, ratio_of_means, redrawn
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture(name="X")
def one(rng: np.random.Generator) -> Floats:
    return rng.normal(size=200)


def test_the_interval_of_a_mean_is_that_of_the_central_limit(X: Floats) -> None:
    found = bootstrap(X, lambda drawn: drawn.mean(axis=-1))
    error = X.std() / np.sqrt(len(X))
    wanted = (X.mean() - 1.96 * error, X.mean() + 1.96 * error)
    assert (found.low, found.high) == pytest.approx(wanted, abs=0.15 * error)


def test_groups_that_do_not_differ_have_an_interval_around_one(rng: np.random.Generator) -> None:
    first, second = np.exp(rng.normal(size=(2, 100)))
    found = ratio_of_means(first, second)
    assert found.low < 1 < found.high


def test_draws_in_blocks_are_the_draws_at_once(X: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = redrawn(len(X), lambda drawn: X[drawn].mean(axis=1), np.random.default_rng(0))
    monkeypatch.setattr(module, "_NUMBERS_AT_ONCE", 70 * len(X))
    in_blocks = redrawn(len(X), lambda drawn: X[drawn].mean(axis=1), np.random.default_rng(0))
    assert len(at_once) == DRAWS
    np.testing.assert_array_equal(at_once, in_blocks)


def test_draws_without_a_figure_do_not_count() -> None:
    assert Interval.percentile(1.0, np.array([1.0, np.nan, 1.0])) == Interval(1.0, 1.0, 1.0)
    nothing = Interval.percentile(np.nan, np.array([np.nan]))
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
