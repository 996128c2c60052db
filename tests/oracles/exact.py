"""Leaving each sample out of training run to the end, in 60 digits: what double precision is held against."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np

from uniqueinfo.types import Floats

DIGITS = 60


@dataclass(frozen=True)
class Exact:
    """Of every sample, (n,) each."""

    functional: Floats
    weight: Floats


def leave_each_out(X: Floats, y: Floats, X_val: Floats, decay: float = 0.0) -> Exact:
    """Least squares with a summed loss and weight decay λ, from zero; without decay the solution nearest to zero."""
    with mpmath.workdps(DIGITS):
        rows, wanted, others = (mpmath.matrix(part.tolist()) for part in (X, y[:, None], X_val))
        whole = _solved(rows, wanted, decay)
        functional, weight = [], []
        for left in range(len(X)):
            kept = [row for row in range(len(X)) if row != left]
            rest = mpmath.matrix([[rows[i, j] for j in range(rows.cols)] for i in kept])
            change = whole - _solved(rest, mpmath.matrix([[wanted[i, 0]] for i in kept]), decay)
            moved = others * change
            functional.append(float(sum(value**2 for value in moved) / (2 * len(X_val))))
            weight.append(float(sum(value**2 for value in change) / 2))
        return Exact(np.array(functional), np.array(weight))


def _solved(rows: mpmath.matrix, wanted: mpmath.matrix, decay: float) -> mpmath.matrix:
    """(XᵀX + λ)⁻¹ Xᵀy, or Xᵀ(XXᵀ)⁻¹y where there are fewer samples than columns and no decay."""
    if decay == 0 and rows.rows < rows.cols:
        return rows.T * mpmath.lu_solve(rows * rows.T, wanted)
    square = rows.T * rows
    for at in range(rows.cols):
        square[at, at] += decay
    return mpmath.lu_solve(square, rows.T * wanted)
