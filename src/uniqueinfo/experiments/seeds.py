"""Means over a few seeds, with Student's interval."""

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
