"""Leave-one-out scores against arithmetic of 60 digits, for data of any condition.

Training to the end with a decay is ridge regression, w = (XᵀX + λ)⁻¹ Xᵀy; without each sample in turn it is solved
again in 60 digits. Scores that are off by more than six digits without a word are a defect.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import mpmath
import numpy as np
from numpy.typing import NDArray

import uniqueinfo as ui
from torture.outcome import Ending, Outcome

_DIGITS = 1e-6
Floats = NDArray[np.float64]


def attack(seed: int, count: int) -> Iterator[Outcome]:
    """So many problems."""
    for number in range(count):
        rng = np.random.default_rng([seed, number, 5])
        samples, width = int(rng.integers(3, 9)), int(rng.integers(1, 5))
        condition = 10 ** float(rng.uniform(0, 10))
        scale = 10 ** float(rng.uniform(-3, 3))
        decay = 10 ** float(rng.uniform(-8, 0))
        X = scale * rng.normal(size=(samples, width)) * np.geomspace(1, 1 / condition, width)
        y = X @ rng.normal(size=width) / scale + rng.normal(size=samples)
        case = f"numerics {seed}/{number}: {samples} × {width}, condition {condition:.0e}, decay {decay:.0e}"
        yield _one(case, X, y, decay * scale**2)


def _one(case: str, X: Floats, y: Floats, decay: float) -> Outcome:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        training = ui.Converged(decay, reduction="sum")
        found = ui.score_jacobian(X[:, None], y[:, None], training=training, progress=False)
    wanted = oracle(X, y, decay)
    off = float(np.abs(found.weight - wanted).max() / max(np.abs(wanted).max(), np.finfo(float).tiny))
    if off <= _DIGITS:
        return Outcome(case, Ending.right)
    if told:
        return Outcome(case, Ending.refused)
    return Outcome(case, Ending.defect, f"off by {off:.1e}, and nobody said so")


def oracle(X: Floats, y: Floats, decay: float) -> Floats:
    """½‖w − w₋ᵢ‖² of every sample, by 60 digits."""
    with mpmath.workdps(60):
        rows, values = mpmath.matrix(X.tolist()), mpmath.matrix(y.tolist())

        def solved(kept: list[int]) -> mpmath.matrix:
            part = mpmath.matrix([[rows[i, j] for j in range(rows.cols)] for i in kept])
            right = part.T * mpmath.matrix([values[i] for i in kept])
            return mpmath.lu_solve(part.T * part + decay * mpmath.eye(rows.cols), right)

        every = list(range(len(X)))
        whole = solved(every)
        changes = [whole - solved([i for i in every if i != left]) for left in every]
        return np.array([float(sum(entry**2 for entry in change) / 2) for change in changes])
