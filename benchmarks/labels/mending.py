"""Errors mended by so many decisions: the queue of a review, which is ordered anew after each, and lists that are not.

Somebody who knows the right labels decides on what comes first: a right label is kept, a wrong one mended, or the
sample dropped where the right label is none of the classes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import uniqueinfo as ui
from benchmarks.labels.methods import METHODS
from benchmarks.labels.problems import OTHER, Draw
from uniqueinfo.review.decisions import Ledger
from uniqueinfo.review.session import Session
from uniqueinfo.review.suspects import to_look_at
from uniqueinfo.types import Indices

DECISIONS = 100
QUEUE, STATIC = "review, ordered anew", "review, as it began"
_LISTS = {"ours": "uniqueinfo", "cleanlab": "cleanlab", "cleanlab tuned": "cleanlab, tuned"}
"""The other lists: by which method, and what it calls them."""
ORDERS = (QUEUE, STATIC, *_LISTS.values())
_BY = "bench"


def mended(draw: Draw, number: int) -> dict[str, int]:
    """For each order how many errors were mended by so many decisions."""
    scores = ui.score_features(draw.X, draw.given, progress=False)
    orders = {QUEUE: decided(draw, scores), STATIC: ui.mislabeled(scores, neighbours=True).samples}
    for method, name in _LISTS.items():
        orders[name] = np.argsort(-METHODS[method](draw, number)[name].suspicion, kind="stable")
    return {name: int(draw.wrong[order[:DECISIONS]].sum()) for name, order in orders.items()}


def decided(draw: Draw, scores: ui.Scores) -> Sequence[int] | Indices:
    """The samples in the order in which a review asks about them, each decided on as is right."""
    everybody = partial(to_look_at, noise_rate=1.0)  # the queue must not end before the decisions do
    found: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        session = Session(scores, Ledger(Path(folder) / "decisions.jsonl"), everybody)
        card = session.card(_BY)
        while len(found) < min(DECISIONS, len(draw.given)):
            found.append(card["sample"]["at"])
            card = session.decide(_BY, card["sample"]["id"], *_decision(draw, found[-1]))
    return found


def _decision(draw: Draw, sample: int) -> tuple[str, str | None]:
    right = int(draw.right[sample])
    if right == int(draw.given[sample]):
        return "keep", None
    return ("drop", None) if right == OTHER else ("relabel", str(right))
