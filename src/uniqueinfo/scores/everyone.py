"""All samples of a file in one table: those that were trained on, and those that were held out for validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.samples.border import takes
from uniqueinfo.scores.table import SCORES, HeldScores, Scores
from uniqueinfo.types import Indices

TRAINED, HELD = "training", "held out"


@takes(scores=SCORES)
def everyone(scores: Scores) -> Scores:
    """Training samples as they are, and after them those held out; itself where none were.

    A sample that was trained on is measured by leaving it out; one that was held out by adding it. Of both,
    `loo_outputs` is what a network says that was trained without the sample. `place` says which is which, and `rows`
    where each stands in the file.

    `scores`: of a run that held samples out, as ``uniqueinfo score`` does without ``--val``.

    >>> one = HeldScores(weight=np.ones(2), loo_outputs=np.zeros((2, 1)), outputs=np.zeros((2, 1)),
    ...                  targets=np.ones((2, 1)))
    >>> other = one.replaced(weight=np.array([5.0]), rows=np.array([1]), loo_outputs=np.zeros((1, 1)),
    ...                      outputs=np.zeros((1, 1)), targets=np.ones((1, 1)))
    >>> everyone(one.replaced(held_out=other)).frame()
       id     place  weight  loo_loss
    0   0  training     1.0       0.5
    1   2  training     1.0       0.5
    2   1  held out     5.0       0.5
    """
    held = scores.held_out
    if held is None:
        return scores
    trained_on, apart = len(scores), len(held)
    assert held.rows is not None
    rows = np.concatenate([np.setdiff1d(np.arange(trained_on + apart), held.rows), held.rows])

    def one(name: str) -> Any:
        found, other = (getattr(each, name) for each in (scores, held))
        return None if found is None else _after(found, other, apart)

    measures = ("weight", "functional", "value", "kl", "smoothed", "loo_outputs", "outputs", "targets", "labels")
    errors = None if scores.errors is None else {name: _after(e, None, apart) for name, e in scores.errors.items()}
    return HeldScores(
        **{name: one(name) for name in measures},
        loo_losses=one("loo_loss"),
        ids=rows if scores.ids is None else one("ids"),
        columns=_columns(scores, held),
        effects=scores.effects,  # of the first ones, which were trained on
        errors=errors,
        place=np.array([TRAINED] * trained_on + [HELD] * apart, dtype=object),
        rows=rows,
        settings=scores.settings,
        source=scores.source,
    )


def in_file_order(scores: Scores) -> Indices:
    """Positions in the order of the user's file."""
    return np.arange(len(scores)) if scores.rows is None else np.argsort(scores.rows)


def _after(found: NDArray[Any], other: NDArray[Any] | None, count: int) -> NDArray[Any]:
    """One after the other; what is not known of the second is NaN."""
    return np.concatenate([found, np.full((count, *found.shape[1:]), np.nan) if other is None else other])


def _columns(scores: Scores, held: Scores) -> pd.DataFrame | None:
    found = [each.columns for each in (scores, held)]
    return pd.concat(found, ignore_index=True) if all(part is not None for part in found) else None
