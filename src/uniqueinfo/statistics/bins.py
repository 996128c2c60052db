"""Where the bars of a histogram end."""

from __future__ import annotations

import numpy as np

from uniqueinfo.types import Floats

_NARROW = 1e-9  # of the values' own size: what rounding leaves between values that are the same


def bin_edges(values: Floats, bins: int) -> Floats:
    """Of bars of one width over all values; where these are (nearly) the same, of bars around them.

    >>> bin_edges(np.array([0.0, 1.0]), 2)
    array([0. , 0.5, 1. ])
    >>> bin_edges(np.array([1.0, 1.0 + 1e-16]), 1)
    array([0.5, 1.5])
    """
    low, high = float(values.min()), float(values.max())
    if high - low > _NARROW * max(abs(low), abs(high)):
        return np.histogram_bin_edges(values, bins)
    half = max(abs(low), abs(high)) / 2 or 0.5
    return np.linspace(low - half, high + half, bins + 1)
