"""Training run to the end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uniqueinfo.errors import InputError
from uniqueinfo.training.algorithm import Filter, Reduction, Training, check_not_negative, check_reduction, per_sum
from uniqueinfo.training.loss_names import SQUARED, LossFunction, check_loss, loss_name
from uniqueinfo.types import Floats


@dataclass(frozen=True)
class ConvergedFilter:
    """φ(z) = 1/(z + λ); where z + λ = 0 the minimum-norm limit, 0.

    >>> ConvergedFilter(decay=1.0)(np.array([0.0, 1.0]))
    array([1. , 0.5])
    """

    decay: float
    horizon: float = math.inf

    def __call__(self, z: Floats) -> Floats:
        """φ(z)."""
        y = z + self.decay
        return np.divide(1.0, y, out=np.zeros_like(y), where=y > 0)


@dataclass(frozen=True)
class Converged(Training):
    """Training run to the end: ridge regression; without decay the solution nearest to w0.

    >>> Converged(weight_decay=0.01).filter(samples=100)
    ConvergedFilter(decay=1.0, horizon=inf)
    """

    name: ClassVar[str] = "converged"
    options: ClassVar[dict[str, str]] = {"weight_decay": "weight_decay"}

    weight_decay: float = 0.0
    """λ: how strongly the weights are pulled towards where they began."""
    reduction: Reduction = "mean"
    loss: str | LossFunction = "mse"

    def __post_init__(self) -> None:
        check_not_negative(self, "weight_decay", self.weight_decay)
        check_reduction(self, self.reduction)
        check_loss(self.loss)
        if self.loss != SQUARED and self.weight_decay == 0:
            raise InputError(
                f"Converged: the loss {loss_name(self.loss)!r} need not have a smallest value without weight decay "
                "(weights may grow for ever); set weight_decay, or stop early with GradientFlow"
            )

    def filter(self, samples: int) -> Filter:
        """The filter of the minimum over this many samples."""
        return ConvergedFilter(per_sum(self.reduction, samples, 1.0, self.weight_decay)[1])

    def words(self) -> str:
        """With its decay."""
        decay = f", weight decay {self.weight_decay:.3g}" if self.weight_decay else ""
        return f"to convergence{decay}{self.in_words()}"
