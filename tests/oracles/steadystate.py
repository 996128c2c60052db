"""Steady states written out over all D weights, solved by Bartels and Stewart's algorithm."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

from tests.oracles import retraining
from uniqueinfo.training import Training
from uniqueinfo.types import Floats


def hessian(J: Floats, training: Training, decay: float) -> Floats:
    """JᵀJ + λI, or JᵀJ/n + λI under the mean."""
    flat = J.reshape(-1, J.shape[2])
    found: Floats = flat.T @ flat / (len(J) if training.reduction == "mean" else 1) + decay * np.eye(J.shape[2])
    return found


def noise(J: Floats, residual: Floats, w: Floats) -> Floats:
    """Λ: the covariance of the samples' gradients at w."""
    gradients = np.einsum("nkd,nk->nd", J, J @ w - residual)
    found: Floats = np.cov(gradients, rowvar=False, bias=True).reshape(J.shape[2], J.shape[2])
    return found


def covariance(
    J: Floats, residual: Floats, training: Training, decay: float, scale: float, without: Iterable[int] = ()
) -> Floats:
    """Σ of training on all samples but these, HΣ + ΣHᵀ = scale · Λ."""
    w = retraining.weights(J, residual, training, without)
    kept = np.setdiff1d(np.arange(len(J)), list(without))
    found: Floats = solve_continuous_lyapunov(
        hessian(J[kept], training, decay), scale * noise(J[kept], residual[kept], w)
    )
    return found


def information(delta: Floats, covariance: Floats) -> Floats:
    """½ δᵀΣ⁻¹δ of every row of delta: how far it moves, in widths of the steady state."""
    found: Floats = np.einsum("id,de,ie->i", delta, np.linalg.inv(covariance), delta) / 2
    return found


def divergence(delta: Floats, covariance: Floats, other: Floats) -> float:
    """KL(N(δ, Σ) ‖ N(0, Σ'))."""
    inverse = np.linalg.inv(other)
    log = np.linalg.slogdet(other)[1] - np.linalg.slogdet(covariance)[1]
    return float(delta @ inverse @ delta + np.trace(inverse @ covariance) - len(delta) + log) / 2
