"""Small problems to try things on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uniqueinfo.training import Converged, GradientDescent, GradientFlow, Reduction, Training
from uniqueinfo.types import Floats


@dataclass(frozen=True)
class Problem:
    """A linearized network: training and validation rows with their residuals."""

    J: Floats
    residual: Floats
    J_val: Floats
    residual_val: Floats

    @property
    def samples(self) -> int:
        return len(self.J)

    @property
    def largest(self) -> float:
        return float(np.linalg.norm(self.J.reshape(-1, self.J.shape[2]), 2) ** 2)


def problem(n: int, k: int, D: int, m: int = 6, seed: int = 0, decades: float = 0.0) -> Problem:
    """Gaussian rows whose spectrum falls over this many decades."""
    rng = np.random.default_rng(seed)
    scale = np.logspace(0, -decades / 2, D)
    J, J_val = rng.normal(size=(n, k, D)) * scale, rng.normal(size=(m, k, D)) * scale
    return Problem(J, rng.normal(size=(n, k)), J_val, rng.normal(size=(m, k)))


def trainings(given: Problem, reduction: Reduction) -> dict[str, Training]:
    """One of every kind, with rates and decays that suit the problem's size."""
    unit = (given.samples if reduction == "mean" else 1) / given.largest
    decay = 0.05 / unit
    return {
        "descent": GradientDescent(0.9 * unit, 50, reduction=reduction),
        "few steps": GradientDescent(0.9 * unit, 3, reduction=reduction),
        "long descent": GradientDescent(0.5 * unit, 20_000, reduction=reduction),
        "descent with decay": GradientDescent(0.5 * unit, 300, weight_decay=decay, reduction=reduction),
        "momentum": GradientDescent(0.5 * unit, 30, momentum=0.9, reduction=reduction),
        "long momentum": GradientDescent(0.5 * unit, 2000, momentum=0.9, weight_decay=decay, reduction=reduction),
        "flow": GradientFlow(unit, 100.0, reduction=reduction),
        "flow with decay": GradientFlow(unit, 20.0, weight_decay=decay, reduction=reduction),
        "ridge": Converged(decay, reduction=reduction),
        "minimum norm": Converged(0.0, reduction=reduction),
    }
