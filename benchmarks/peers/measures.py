"""How close scores come to training again, and how well they find wrong labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.truth import Truth
from uniqueinfo.experiments.labelnoise import ranking
from uniqueinfo.statistics.correlation import pearson, spearman
from uniqueinfo.statistics.interval import Interval


def against_truth(scores: Mapping[str, NDArray[Any]], truth: Truth) -> dict[str, Any]:
    """Correlations of `amount` and `value`, those there are, with what training again gave."""
    real = {"amount": truth.amount, "value": truth.value}
    return {
        name: {
            "spearman": _figures(spearman(scores[name][truth.samples], real[name])),
            "pearson": _figures(pearson(scores[name][truth.samples], real[name])),
        }
        for name in real
        if name in scores
    }


def against_noise(scores: Mapping[str, NDArray[Any]], wrong: NDArray[np.bool_]) -> dict[str, float]:
    return ranking(scores["suspicion"], wrong)


def _figures(found: Interval) -> list[float]:
    return [found.value, found.low, found.high]
