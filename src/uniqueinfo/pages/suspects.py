"""What is said of one suspect on a page where people decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from uniqueinfo.applications.mislabeled import Mislabeled
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.store.plain import records

_CLASSES = 5
"""Classes whose probability is shown."""
_CHANCES = ("probability", "wrong")
"""Columns in which an answer may say how likely a label is wrong; the first that is there is shown."""


def chance_wrong(row: Mapping[str, Any]) -> float | None:
    """How likely a label is wrong, where the answer says so.

    >>> chance_wrong({"probability": 0.9, "margin": -0.2}), chance_wrong({"margin": -0.2})
    (0.9, None)
    """
    return next((float(row[name]) for name in _CHANCES if name in row and pd.notna(row[name])), None)


def likeliest(predictions: Predictions, sample: int) -> list[tuple[str, float]]:
    """The classes that the network trained without the sample names first, and their probabilities."""
    chances = predictions.probability[sample]
    order = np.argsort(-chances, kind="stable")[:_CLASSES]
    return [(predictions.names[number], round(float(chances[number]), 4)) for number in order]


def to_decide(answer: Mislabeled, predictions: Predictions, most: int) -> list[dict[str, Any]]:
    """The first suspects as plain data, for a page that goes through them."""
    rows = records(answer.frame().head(most))
    return [
        {
            "at": int(sample),
            "id": str(row["id"]),
            "label": str(row["label"]),
            "suggested": str(row["suggested"]),
            "chance": chance_wrong(row),
            "says": likeliest(predictions, int(sample)),
            "place": row.get("place"),
        }
        for sample, row in zip(answer.samples.tolist(), rows, strict=False)
    ]
