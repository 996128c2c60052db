"""What people should look at: more than is named as wrong without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uniqueinfo.applications.mislabeled import Mislabeled, answered, mislabeled
from uniqueinfo.applications.suspicion.judged import Judged
from uniqueinfo.scores.table import Scores


def to_look_at(
    scores: Scores, judged: Judged | None = None, *, noise_rate: float | None = None, **asked: Any
) -> Mislabeled:
    """Suspects for a review, the most probable first; `judged`: what is believed of every label, where that is known.

    Labels that are wrong rather than right are named, and people's own mistakes, which fall on hard samples, are often
    not among them. A look costs little, so every label that the models trained without the sample contradict is shown;
    with `noise_rate`, that share of all.
    """
    ask: Any = mislabeled if judged is None else answered
    found: Mislabeled = ask(scores, *(() if judged is None else (judged,)), noise_rate=noise_rate, **asked)
    if noise_rate is not None or found.withheld:
        return found
    return replace(found, count=max(found.count, found.contradicted))
