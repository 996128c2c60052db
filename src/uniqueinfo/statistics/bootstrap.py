"""The percentile bootstrap: a figure of n samples is computed again from n of them drawn with repeats, many times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats, Indices

DRAWS = 2000
"""How often the samples are drawn again."""
_NUMBERS_AT_ONCE = 2**22
"""Redrawn numbers held in memory together (32 MiB): draws are taken in blocks of this size."""


def redrawn(samples: int, figure: Callable[[Indices], Floats], rng: np.random.Generator, rows: int = 1) -> Floats:
    """The figure of every draw, (draws,); `figure` takes the samples of a block of draws, (block, samples).

    `rows` says how many numbers the figure looks up for each sample drawn.

    >>> redrawn(3, lambda drawn: (drawn < 3).mean(axis=1), np.random.default_rng(0)).shape
    (2000,)
    """
    block = max(1, _NUMBERS_AT_ONCE // (samples * rows))
    sizes = [min(block, DRAWS - start) for start in range(0, DRAWS, block)]
    return np.concatenate([figure(rng.integers(samples, size=(size, samples))) for size in sizes])


def bootstrap(values: ArrayLike, statistic: Callable[[Floats], Floats], *, seed: int = 0) -> Interval:
    """A statistic of one number per sample; `statistic` works over the last axis.

    >>> bootstrap([1.0, 1.0, 1.0], lambda drawn: drawn.mean(axis=-1))
    Interval(value=1.0, low=1.0, high=1.0)
    """
    whole = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    return Interval.percentile(float(statistic(whole)), redrawn(len(whole), lambda drawn: statistic(whole[drawn]), rng))


def ratio_of_means(above: ArrayLike, below: ArrayLike, *, seed: int = 0) -> Interval:
    """mean(above) / mean(below); either group is drawn again on its own.

    >>> ratio_of_means([2.0, 2.0], [1.0, 1.0])
    Interval(value=2.0, low=2.0, high=2.0)
    """
    rng = np.random.default_rng(seed)
    first, second = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    ratios = _means(first, rng) / _means(second, rng)
    return Interval.percentile(float(first.mean() / second.mean()), ratios)


def _means(values: Floats, rng: np.random.Generator) -> Floats:
    return redrawn(len(values), lambda drawn: values[drawn].mean(axis=1), rng)
