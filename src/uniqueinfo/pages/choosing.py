"""Which samples a page shows where there are too many: the ends of their order, and the suspects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest

import numpy as np

from uniqueinfo.types import Indices

MOST_ROWS = 2000
"""Rows of the page's table from either end, the most and the least informative."""


def bounded(order: Indices, suspected: Indices) -> Indices:
    """At most the first and last MOST_ROWS, and the suspects, in order."""
    if len(order) <= 2 * MOST_ROWS:
        return order
    ends = np.concatenate([order[:MOST_ROWS], order[-MOST_ROWS:]])
    return order[np.isin(order, np.concatenate([ends, suspected]))]


def inwards(kept: Indices) -> Iterator[int]:
    """From both ends in turn: what the budgets cut off is the middle."""
    half = (len(kept) + 1) // 2
    pairs = zip_longest(kept[:half].tolist(), kept[half:][::-1].tolist())
    return (sample for sample in chain.from_iterable(pairs) if sample is not None)
