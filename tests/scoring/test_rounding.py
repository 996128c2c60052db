"""Training run to the end on badly conditioned rows: held against 60 digits, and within the error that is stated."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import uniqueinfo as ui
from tests.oracles.exact import leave_each_out
from uniqueinfo.types import Floats


def conditioned(n: int, p: int, condition: float, seed: int = 1) -> Floats:
    """Singular values from 1 down to 1/condition."""
    rng, rank = np.random.default_rng(seed), min(n, p)
    left, right = (np.linalg.qr(rng.normal(size=(size, rank)))[0] for size in (n, p))
    found: Floats = (left * np.logspace(0, -np.log10(condition), rank)) @ right.T
    return found


def plain(n: int = 12, p: int = 4) -> Floats:
    return np.random.default_rng(5).normal(size=(n, p))


def with_row(factor: float) -> Floats:
    X = plain()
    X[3] *= factor
    return X


def held_by_one(others: float) -> Floats:
    """The last column is of one sample, but for a little of another: a leverage of 1 − others²."""
    X = plain()
    X[:, 3] = 0.0
    X[3, 3], X[5, 3] = 1.0, others
    return X


def nearly_twice(apart: float) -> Floats:
    X = plain(4)
    return np.vstack([X[:3], X[0] + apart * np.random.default_rng(6).normal(size=4)])


MADE: dict[str, Callable[[], Floats]] = {
    **{f"tall 1e{e}": lambda e=e: conditioned(12, 4, 10.0**e) for e in (2, 5, 7, 8, 10)},  # type: ignore[misc]
    **{f"wide 1e{e}": lambda e=e: conditioned(5, 8, 10.0**e) for e in (5, 8, 10)},  # type: ignore[misc]
    "a row 1e9 times the others": lambda: with_row(1e9),
    "a row 1e4 times the others": lambda: with_row(1e4),
    "a leverage of 1 − 1e-8": lambda: held_by_one(1e-4),
    "a leverage of 1 − 1e-10": lambda: held_by_one(1e-5),
    "rows alike to 1e-9": lambda: nearly_twice(1e-9),
    **{f"size 1e{e}": lambda e=e: plain() * 10.0**e for e in (-150, -60, 60, 140)},  # type: ignore[misc]
}


def scored(X: Floats, decay: float = 0.0) -> tuple[ui.Scores, float]:
    """Scores, and their largest error against 60 digits, relative to a thousandth of the largest score or more."""
    rng = np.random.default_rng(9)
    y, X_val = rng.normal(size=len(X)), rng.normal(size=(6, X.shape[1])) * np.abs(X).max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = ui.score_features(
            X, y, X_val, training=ui.Converged(decay, reduction="sum"), head="paper", progress=False
        )
    wanted = leave_each_out(X, y, X_val, decay)
    assert scores.functional is not None
    pairs = ((scores.functional, wanted.functional), (scores.weight, wanted.weight))
    apart = [float((np.abs(a - b) / np.maximum(b, 1e-3 * b.max())).max()) for a, b in pairs]
    return scores, max(apart)


@pytest.mark.parametrize("kind", MADE)
def test_scores_are_within_the_error_that_is_stated(kind: str) -> None:
    scores, error = scored(MADE[kind]())
    assert error <= scores.settings["rounding"]["error"]


@pytest.mark.parametrize(("condition", "most"), [(1e5, 1e-9), (1e7, 1e-7), (1e8, 1e-6), (1e10, 1e-4)])
def test_rows_keep_the_digits_that_their_products_lose(condition: float, most: float) -> None:
    assert scored(conditioned(12, 4, condition))[1] < most


@pytest.mark.parametrize("decay", [1e-6, 1e-12, 1e-16])
def test_a_little_decay_is_no_rounding(decay: float) -> None:
    scores, error = scored(conditioned(12, 4, 1e8), decay)
    assert error <= scores.settings["rounding"]["error"] < 1e-4


@pytest.mark.parametrize("kind", ["a row 1e9 times the others", "a leverage of 1 − 1e-10"])
def test_a_sample_that_all_but_holds_a_direction_is_trained_without(kind: str) -> None:
    assert scored(MADE[kind]())[1] < 1e-8


def test_fewer_than_six_digits_are_said() -> None:
    X = conditioned(12, 4, 1e10)
    with pytest.warns(UserWarning, match=r"fewer than six digits .* condition number 1e\+10 .*; add weight decay"):
        ui.score_features(X, X[:, 0], X, training=ui.Converged(), head="paper", progress=False)


def test_rows_that_are_there_twice_are_no_bad_condition() -> None:
    """Their direction is rounding whatever it is rounded to, and nothing is divided by it."""
    X = np.vstack([plain(3, 6), plain(3, 6)[:1]])
    scores = ui.score_features(X, np.arange(4.0), X, training=ui.Converged(), head="paper", progress=False)
    assert scores.settings["rounding"]["error"] < 1e-8
    assert (scores.weight[1:3] > 1e-3).all()
