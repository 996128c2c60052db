"""A figure and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uniqueinfo.types import Floats

TAILS = (0.025, 0.975)
"""The quantiles between which 95 % of the redraws lie."""


@dataclass(frozen=True)
class Interval:
    """A figure and its 95 % interval.

    >>> str(Interval(0.5, 0.25, 0.75))
    '0.5 [0.25, 0.75]'
    """

    value: float
    low: float
    high: float

    @classmethod
    def percentile(cls, value: float, redrawn: Floats) -> Interval:
        """The interval that holds the middle 95 % of a figure's redraws; those that are not finite do not count.

        >>> Interval.percentile(20.0, np.arange(0.0, 41.0))
        Interval(value=20.0, low=1.0, high=39.0)
        """
        finite = redrawn[np.isfinite(redrawn)]
        low, high = np.quantile(finite, TAILS).tolist() if len(finite) else (np.nan, np.nan)
        return cls(float(value), low, high)

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"
