"""What a linear head on features is like before it is trained.

"balanced": it has an intercept, and starts from where nothing is said yet: equal chances of all classes, or the mean of
the numbers to predict. "paper": no intercept, and outputs start from zero, as in the paper.

The intercept is a column of one value, as large as features are long: its weight then moves the outputs as readily as
all features together do, whatever their scale. Value and start are fixed before training, so leaving a sample out is
as exact as without them.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from uniqueinfo.errors import InputError
from uniqueinfo.samples.targets import Encoding
from uniqueinfo.scores.predictions import LOGITS
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.training.loss_names import SQUARED, LossFunction
from uniqueinfo.types import Floats

Head = Literal["balanced", "paper"]

_LOOKED_AT = 1000  # samples whose length is typical enough of all


def check_head(head: str) -> None:
    """Refuse a head of another kind."""
    if not isinstance(head, str) or head not in get_args(Head):
        raise InputError(f'head: expected "balanced" or "paper", got {head!r}')


def balanced_start(encoding: Encoding, labels: Any, outputs: int, loss: str | LossFunction = SQUARED) -> Floats:
    """Outputs before training, (outputs,).

    >>> balanced_start(Encoding(np.array(["cat", "dog"])), np.array(["dog"]), 1)
    array([0.5])
    >>> balanced_start(Encoding(None), np.array([1.0, 3.0]), 1)
    array([2.])
    >>> balanced_start(Encoding(np.array(["cat", "dog"])), np.array(["dog"]), 1, "cross-entropy")
    array([0.])
    """
    if loss in LOGITS:
        return np.zeros(outputs)  # logits of equal chances
    if encoding.classes is not None:
        return np.full(outputs, 0.5 if outputs == 1 else 1 / outputs)
    parts = [np.asarray(labels[part], dtype=np.float64) for part in slices(len(labels), 8 * outputs)]
    total: Floats = np.sum([part.reshape(len(part), -1).sum(axis=0) for part in parts], axis=0)
    mean = total / len(labels)
    return np.log(np.maximum(mean, np.finfo(float).tiny)) if loss == "poisson" else mean  # logarithms of rates


def typical_length(features: Any) -> float:
    """√ of the mean of ‖x‖², over some of the samples; 1 where all are zero.

    >>> typical_length(np.array([[3.0, 4.0], [0.0, 5.0]]))
    5.0
    """
    some = np.unique(np.linspace(0, features.shape[0] - 1, _LOOKED_AT).astype(np.intp))
    rows = features[some]
    with np.errstate(over="ignore"):  # what has no square is named where all samples are looked at
        found = float(np.sqrt(np.square(np.asarray(rows, dtype=np.float64)).sum(axis=1).mean()))
    return found if np.isfinite(found) and found > 0 else 1.0
