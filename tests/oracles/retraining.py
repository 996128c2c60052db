"""Brute force: train the linearization again without the samples, in float64, through its singular values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from uniqueinfo.training import Training
from uniqueinfo.types import Floats


def weights(J: Floats, residual: Floats, training: Training, without: Iterable[int] = ()) -> Floats:
    """w − w0 after training on all samples but these; J is (n, k, D), residual (n, k)."""
    kept = np.setdiff1d(np.arange(len(J)), list(without))
    if len(kept) == 0:
        return np.zeros(J.shape[2])
    left, singular, right = np.linalg.svd(J[kept].reshape(-1, J.shape[2]), full_matrices=False)
    # Singular values of exactly dependent rows come out at rounding size: zero for an inverse without decay.
    values = np.where(singular > 1e-10 * singular.max(initial=0.0), singular, 0.0) ** 2
    found: Floats = right.T @ (training.filter(len(kept))(values) * singular * (left.T @ residual[kept].reshape(-1)))
    return found


def from_hessian(H: Floats, moment: Floats, training: Training) -> Floats:
    """φ(H) times Jᵀr, (D, columns), for the sum of losses, from the eigenvalues of H."""
    values, basis = np.linalg.eigh(H)
    found: Floats = basis @ (training.filter(1)(values)[:, None] * (basis.T @ moment))
    return found


def changes(J: Floats, residual: Floats, training: Training, groups: Sequence[Iterable[int]]) -> Floats:
    """w − w₋ of every group, (groups, D)."""
    full = weights(J, residual, training)
    return np.stack([full - weights(J, residual, training, group) for group in groups])


@dataclass(frozen=True)
class Truth:
    """Every measure of every removal, from trainings with and without."""

    weight: Floats
    functional: Floats
    value: Floats
    outputs: list[Floats]


def leave_out(
    J: Floats,
    residual: Floats,
    J_val: Floats,
    residual_val: Floats,
    training: Training,
    groups: Sequence[Sequence[int]],
) -> Truth:
    """Train once with all and once without each group, and take the differences."""
    full = weights(J, residual, training)
    rest = [weights(J, residual, training, group) for group in groups]
    m = len(J_val)
    loss = [np.square(J_val @ w - residual_val).sum() / (2 * m) for w in [full, *rest]]
    return Truth(
        weight=np.array([np.square(full - w).sum() / 2 for w in rest]),
        functional=np.array([np.square(J_val @ (full - w)).sum() / (2 * m) for w in rest]),
        value=np.array(loss[1:]) - loss[0],
        outputs=[J[list(group)] @ w for group, w in zip(groups, rest, strict=True)],
    )
