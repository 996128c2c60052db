"""How well scores agree with the truth: correlations with bootstrap intervals, and the datamodeling score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from uniqueinfo.errors import InputError
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

_DRAWS = 2000
_COVERAGE = 0.95


def pearson(scores: ArrayLike, truth: ArrayLike, *, seed: int = 0) -> Interval:
    """Pearson's correlation; the interval redraws pairs.

    >>> pearson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value
    1.0
    """
    return _correlation(scores, truth, seed, lambda values: values)


def spearman(scores: ArrayLike, truth: ArrayLike, *, seed: int = 0) -> Interval:
    """Spearman's: Pearson's correlation of the ranks, ties sharing theirs; ranks are taken again in every redraw.

    >>> spearman([1.0, 2.0, 3.0], [1.0, 10.0, 11.0]).value
    1.0
    """
    return _correlation(scores, truth, seed, lambda values: rankdata(values, axis=-1))


def leave_one_out_correlation(changes: ArrayLike, truth: ArrayLike, *, seed: int = 0) -> Interval:
    """Spearman's correlation of predicted and real changes (removals, m), for each validation sample, averaged.

    >>> effects = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
    >>> leave_one_out_correlation(effects, 10 * effects).value
    1.0
    """
    predicted, real = _matrices(changes, truth)
    return _average(_rows(rankdata(predicted.T, axis=-1), rankdata(real.T, axis=-1)), seed)


def linear_datamodeling_score(
    attributions: ArrayLike, left_out: ArrayLike, truth: ArrayLike, *, seed: int = 0
) -> Interval:
    """LDS: are subsets' outputs ranked by the sum of their members' attributions?

    `attributions` (n, m): what each sample's being there adds to each validation sample's output (or margin, or
    loss). `left_out` (subsets, n): True where a sample is missing. `truth` (subsets, m): what training without them
    really gives. Spearman's correlation over subsets, for each validation sample, averaged. (Park et al. 2023.)

    >>> left_out = np.array([[True, False, False], [False, True, False], [False, False, True], [True, True, False]])
    >>> effect = np.array([[1.0], [2.0], [4.0]])
    >>> linear_datamodeling_score(effect, left_out, 7.0 - left_out @ effect).value
    1.0
    """
    effects, missing = np.asarray(attributions, dtype=np.float64), np.asarray(left_out, dtype=bool)
    if effects.ndim != 2 or missing.ndim != 2 or missing.shape[1] != len(effects):
        raise InputError(
            f"attributions (n, m) and left_out (subsets, n) do not go together: {effects.shape} and {missing.shape}"
        )
    return leave_one_out_correlation(-(missing.astype(np.float64) @ effects), truth, seed=seed)


def random_subsets(samples: int, subsets: int, share: float = 0.5, *, seed: int = 0) -> NDArray[np.bool_]:
    """Which samples each of some random subsets leaves out, (subsets, n): this share of all, drawn without repeats.

    >>> random_subsets(10, 3, share=0.2).sum(axis=1)
    array([2, 2, 2])
    """
    size = round(share * samples)
    if not 0 < size < samples:
        raise InputError(f"share: {share} of {samples} samples leaves nothing, or nothing out")
    order = np.random.default_rng(seed).random((subsets, samples)).argsort(axis=1)
    return order < size


def _correlation(scores: ArrayLike, truth: ArrayLike, seed: int, ranked: Callable[[Floats], Floats]) -> Interval:
    a, b = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 3:
        raise InputError(f"expected two lists of at least 3 numbers, one pair per sample, got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("scores or truth are not finite: leave those samples out")
    drawn = np.random.default_rng(seed).integers(len(a), size=(_DRAWS, len(a)))
    value = float(_rows(ranked(a[None]), ranked(b[None]))[0])
    return Interval(value, *_interval(_rows(ranked(a[drawn]), ranked(b[drawn]))))


def _average(values: Floats, seed: int) -> Interval:
    """The mean over validation samples whose truth varies; the interval redraws those."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        raise InputError("neither prediction nor truth may be the same for every removal: there is nothing to rank")
    drawn = np.random.default_rng(seed).integers(len(values), size=(_DRAWS, len(values)))
    return Interval(float(values.mean()), *_interval(values[drawn].mean(axis=1)))


def _rows(a: Floats, b: Floats) -> Floats:
    """Pearson's correlation of each row of a with the same row of b; NaN where one of them is constant."""
    a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
    size = np.sqrt(np.square(a).sum(axis=-1) * np.square(b).sum(axis=-1))
    product = (a * b).sum(axis=-1)
    found: Floats = np.divide(product, size, out=np.full_like(size, np.nan), where=size > 0)
    return found.clip(-1, 1)


def _interval(values: Floats) -> tuple[float, float]:
    tail = (1 - _COVERAGE) / 2
    low, high = np.nanquantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _matrices(a: Any, b: Any) -> tuple[Floats, Floats]:
    predicted, real = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if predicted.shape != real.shape or predicted.ndim != 2 or len(predicted) < 3:
        raise InputError(
            f"expected (removals, validation samples) twice, 3 removals or more, got {predicted.shape} and {real.shape}"
        )
    return predicted, real
