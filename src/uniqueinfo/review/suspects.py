"""What people should look at: more than is named as wrong without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uniqueinfo.applications.mislabeled import Mislabeled, mislabeled
from uniqueinfo.scores.table import Scores


def to_look_at(scores: Scores, *, noise_rate: float | None = None, **asked: Any) -> Mislabeled:
    """Suspects for a review, the most probable first.

    Labels that are wrong rather than right are named, and people's own mistakes, which fall on hard samples, are often
    not among them. A look costs little, so every label that the network trained without the sample contradicts is
    shown; with `noise_rate`, that share of all.
    """
    found = mislabeled(scores, noise_rate=noise_rate, **asked)
    if noise_rate is not None or found.withheld:
        return found
    return replace(found, count=max(found.count, found.contradicted))
