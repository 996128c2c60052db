"""Means over a few seeds, with Student's interval; and where one more seed would lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from uniqueinfo.statistics.interval import Interval


def over_seeds(values: ArrayLike) -> Interval:
    """The mean, and its 95 % interval if seeds are normal draws: ± t₀.₉₇₅ s/√n. One seed alone has none.

    >>> str(over_seeds([0.9, 1.0, 1.1]))
    '1 [0.752, 1.25]'
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    if len(found) == 1:
        return Interval(mean, float("nan"), float("nan"))
    reach = float(t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found)))
    return Interval(mean, mean - reach, mean + reach)


def one_more(values: ArrayLike) -> Interval:
    """The mean, and where one more seed lies in 95 % of cases if seeds are normal draws: ± t₀.₉₇₅ s √(1 + 1/n).

    >>> str(one_more([0.9, 1.0, 1.1]))
    '1 [0.503, 1.5]'
    """
    known = over_seeds(values)
    wider = float(np.sqrt(np.size(values) + 1))
    return Interval(
        known.value, known.value + wider * (known.low - known.value), known.value + wider * (known.high - known.value)
    )
