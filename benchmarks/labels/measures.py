"""How well a method found the wrong labels of one draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.labels.methods import Found
from benchmarks.labels.problems import Mask
from uniqueinfo.experiments.labelnoise import ranking
from uniqueinfo.types import Floats

_BINS = 10
_FIRST = (100, 300)


def measured(found: Found, wrong: Mask) -> dict[str, Any]:
    """Ranking, calibration, count."""
    order = np.argsort(-found.suspicion, kind="stable")
    result: dict[str, Any] = {**ranking(found.suspicion, wrong), "wrong": int(wrong.sum()), "samples": len(wrong)}
    result |= {f"precision_{first}": float(wrong[order[:first]].mean()) for first in _FIRST}
    if found.probability is not None:
        result["calibration"] = calibration_error(found.probability, wrong)
    if found.count is not None:
        result["count"] = found.count
        result["interval"] = found.interval
    if found.named is not None:
        result["named"] = int(found.named.sum())
        result["named_wrong"] = int((found.named & wrong).sum())
    return result


def calibration_error(probability: Floats, wrong: Mask) -> float:
    """Σ over ten bins of equal width of their share times |mean probability − share of wrong labels|.

    >>> calibration_error(np.array([0.25, 0.25, 0.25, 0.25]), np.array([True, False, False, False]))
    0.0
    >>> calibration_error(np.array([1.0, 0.0]), np.array([False, False]))
    0.5
    """
    number = np.minimum((probability * _BINS).astype(int), _BINS - 1)
    apart = [
        float((number == one).mean() * abs(probability[number == one].mean() - wrong[number == one].mean()))
        for one in np.unique(number)
    ]
    return sum(apart)
