"""How well scores rank samples as training again does, with intervals, over several orders of the batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from uniqueinfo.types import Floats

_DRAWS = 1000


@dataclass(frozen=True)
class Agreement:
    """Spearman's correlation, the mean over pairs, with its 95 % bootstrap interval over the samples."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def agreement(pairs: Sequence[tuple[Floats, Floats]]) -> Agreement:
    """Of pairs that speak of the same samples, which are drawn anew together.

    >>> str(agreement([(np.arange(9.0), np.arange(9.0) ** 3)]))
    '1.00 [1.00, 1.00]'
    """
    stacked = np.array([np.stack(pair) for pair in pairs])
    rng, size = np.random.default_rng(0), stacked.shape[2]
    drawn = [_spearman(stacked[:, :, rng.integers(size, size=size)]) for _ in range(_DRAWS)]
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return Agreement(_spearman(stacked), float(low), float(high))


def with_each_other(truths: Sequence[Floats]) -> Agreement | None:
    """Of every two of them; None where there is one alone."""
    pairs = list(combinations(truths, 2))
    return agreement(pairs) if pairs else None


def _spearman(pairs: Floats) -> float:
    """The mean over pairs (pairs, 2, samples)."""
    ranks = rankdata(pairs, axis=2)
    ranks -= ranks.mean(axis=2, keepdims=True)
    above = (ranks[:, 0] * ranks[:, 1]).sum(axis=1)
    below = np.sqrt(np.square(ranks[:, 0]).sum(axis=1) * np.square(ranks[:, 1]).sum(axis=1))
    return float(np.mean(above / np.where(below > 0, below, np.nan)))
