"""A figure and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A figure and its 95 % interval.

    >>> str(Interval(0.5, 0.25, 0.75))
    '0.5 [0.25, 0.75]'
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"
