"""Gradient flow: descent in the limit of small steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from uniqueinfo.training.algorithm import (
    Filter,
    Reduction,
    Training,
    check_not_negative,
    check_positive,
    check_reduction,
    per_sum,
)
from uniqueinfo.training.loss_names import LossFunction, check_loss
from uniqueinfo.types import Floats

SMALL = 1e-4
"""Where time times eigenvalue is less, two terms of the series are exact to rounding, and the quotient is not."""


@dataclass(frozen=True)
class FlowFilter:
    """φ(z) = (1 − e^{−τ(z+λ)}) / (z+λ) with τ the rate times the time.

    >>> FlowFilter(horizon=2.0, decay=0.0)(np.array([0.0, 1e-9, 1e9]))
    array([2.e+00, 2.e+00, 1.e-09])
    """

    horizon: float
    decay: float

    def __call__(self, z: Floats) -> Floats:
        """φ(z)."""
        y = z + self.decay
        return np.divide(-np.expm1(-self.horizon * y), y, out=np.full_like(y, self.horizon), where=y > 0)

    @property
    def unit(self) -> float:
        """The time."""
        return self.horizon

    def of_unit(self) -> FlowFilter:
        """For time 1."""
        return FlowFilter(1.0, 0.0)

    def kept(self, z: Floats) -> Floats:
        """e^{−τ(z+λ)}: what is left of a difference after this time."""
        found: Floats = np.exp(-self.horizon * (z + self.decay))
        return found

    def ramp(self, z: Floats) -> Floats:
        """∫ e^{−(τ−u)(z+λ)} (u/τ) du = (1 − φ/τ)/(z+λ): what a push does that grows evenly from nothing."""
        y = z + self.decay
        small = self.horizon * y < SMALL
        exact = np.divide(1 - self(z) / self.horizon, y, out=np.zeros_like(y), where=~small)
        return np.where(small, self.horizon * (0.5 - self.horizon * y / 6), exact)


@dataclass(frozen=True)
class GradientFlow(Training):
    """Gradient descent in the limit of small steps, for a time (counted in steps of size lr).

    >>> GradientFlow(lr=0.1, time=50.0, reduction="sum").filter(samples=10)
    FlowFilter(horizon=5.0, decay=0.0)
    """

    name: ClassVar[str] = "flow"
    options: ClassVar[dict[str, str]] = {"lr": "lr", "steps": "time", "weight_decay": "weight_decay"}

    lr: float
    """The learning rate, as handed to the optimizer."""
    time: float
    """How long: as many steps of that rate as this."""
    weight_decay: float = 0.0
    """λ: how strongly the weights are pulled towards where they began."""
    reduction: Reduction = "mean"
    loss: str | LossFunction = "mse"

    def __post_init__(self) -> None:
        check_positive(self, "lr", self.lr)
        check_positive(self, "time", self.time)
        check_not_negative(self, "weight_decay", self.weight_decay)
        check_reduction(self, self.reduction)
        check_loss(self.loss)

    def filter(self, samples: int) -> Filter:
        """The filter of this time on this many samples."""
        rate, decay = per_sum(self.reduction, samples, self.lr, self.weight_decay)
        return FlowFilter(rate * self.time, decay)

    def words(self) -> str:
        """With its time and rate."""
        decay = f", weight decay {self.weight_decay:.3g}" if self.weight_decay else ""
        return f"gradient flow for time {self.time:.4g} at rate {self.lr:.3g}{decay}{self.in_words()}"

    @property
    def length(self) -> float:
        """The time."""
        return self.time

    def stretch(self, start: float, end: float) -> GradientFlow:
        """The part of the training between two times."""
        return replace(self, time=end - start)
