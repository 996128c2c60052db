"""Small problems to try things on."""

from __future__ import annotations

from collections.abc import Callable
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


# One of every kind, from a rate and a decay that suit the problem.
KINDS: dict[str, Callable[[float, float, Reduction], Training]] = {
    "descent": lambda unit, _, reduction: GradientDescent(0.9 * unit, 50, reduction=reduction),
    "few steps": lambda unit, _, reduction: GradientDescent(0.9 * unit, 3, reduction=reduction),
    "long descent": lambda unit, _, reduction: GradientDescent(0.5 * unit, 20_000, reduction=reduction),
    "descent with decay": lambda unit, decay, reduction: GradientDescent(0.5 * unit, 300, decay, reduction=reduction),
    "momentum": lambda unit, _, reduction: GradientDescent(0.5 * unit, 30, momentum=0.9, reduction=reduction),
    "long momentum": lambda unit, decay, reduction: GradientDescent(
        0.5 * unit, 2000, decay, momentum=0.9, reduction=reduction
    ),
    "flow": lambda unit, _, reduction: GradientFlow(unit, 100.0, reduction=reduction),
    "flow with decay": lambda unit, decay, reduction: GradientFlow(unit, 20.0, decay, reduction=reduction),
    "ridge": lambda _, decay, reduction: Converged(decay, reduction=reduction),
    "minimum norm": lambda _, __, reduction: Converged(0.0, reduction=reduction),
}


def trainings(given: Problem, reduction: Reduction) -> dict[str, Training]:
    """One of every kind, with rates and decays that suit the problem's size."""
    unit = (given.samples if reduction == "mean" else 1) / given.largest
    return {name: make(unit, 0.05 / unit, reduction) for name, make in KINDS.items()}
