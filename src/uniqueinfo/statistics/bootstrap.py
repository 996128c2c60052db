"""How sure a figure is: percentile bootstraps over samples, 95 %."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

_DRAWS = 2000
_TAILS = (0.025, 0.975)


def bootstrap(values: ArrayLike, statistic: Callable[[Floats], Floats], seed: int = 0) -> Interval:
    """A statistic over the last axis.

    >>> bootstrap([1.0, 1.0, 1.0], lambda drawn: drawn.mean(axis=-1))
    Interval(value=1.0, low=1.0, high=1.0)
    """
    whole = np.asarray(values, dtype=np.float64)
    chosen = np.random.default_rng(seed).integers(0, len(whole), (_DRAWS, len(whole)))
    return _interval(float(statistic(whole)), statistic(whole[chosen]))


def ratio_of_means(above: ArrayLike, below: ArrayLike, seed: int = 0) -> Interval:
    """mean(above) / mean(below), either group drawn again on its own.

    >>> ratio_of_means([2.0, 2.0], [1.0, 1.0])
    Interval(value=2.0, low=2.0, high=2.0)
    """
    rng = np.random.default_rng(seed)
    first, second = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    drawn = _means(first, rng) / _means(second, rng)
    return _interval(float(first.mean() / second.mean()), drawn)


def pearson(x: ArrayLike, y: ArrayLike, seed: int = 0) -> Interval:
    """The correlation of two measures of the same samples.

    >>> pearson([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]).value
    1.0
    """
    return mean_correlation(
        np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)]), [(0, 1)], seed
    )


def spearman(x: ArrayLike, y: ArrayLike, seed: int = 0) -> Interval:
    """The correlation of ranks, which no few large values rule; ranks are not taken anew for every draw."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y), seed)


def partial(x: ArrayLike, y: ArrayLike, given: ArrayLike, seed: int = 0) -> Interval:
    """The correlation of what is left of two measures when what a third says of them, linearly, is taken off both.

    >>> given = np.arange(4.0)
    >>> round(partial(given + [1.0, -1.0, -1.0, 1.0], given - [1.0, -1.0, -1.0, 1.0], given).value, 9)
    -1.0
    """
    third = np.asarray(given, dtype=np.float64)
    line = np.column_stack([third, np.ones_like(third)])
    first, second = (one - line @ np.linalg.lstsq(line, one, rcond=None)[0] for one in map(np.asarray, (x, y)))
    return pearson(first, second, seed)


def mean_correlation(scores: Floats, pairs: Sequence[tuple[int, int]], seed: int = 0) -> Interval:
    """The mean over pairs of rows (measures, n) of their correlation; samples are drawn again, for all rows alike."""
    first, second = np.array(pairs).T
    rng = np.random.default_rng(seed)
    n = scores.shape[1]
    drawn = np.array(
        [correlation_matrix(scores[:, rng.integers(0, n, n)])[first, second].mean() for _ in range(_DRAWS)]
    )
    value = float(correlation_matrix(scores)[first, second].mean())
    return _interval(value, drawn[np.isfinite(drawn)])  # a draw of one sample alone has no correlation


def correlation_matrix(scores: Floats) -> Floats:
    """Correlations of all pairs of rows."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.corrcoef(scores))


def _means(values: Floats, rng: np.random.Generator) -> Floats:
    means: Floats = values[rng.integers(0, len(values), (_DRAWS, len(values)))].mean(axis=1)
    return means


def _interval(value: float, drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, _TAILS)
    return Interval(value, float(low), float(high))
