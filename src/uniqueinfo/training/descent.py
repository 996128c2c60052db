"""Gradient descent for a number of steps, with momentum or without."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from uniqueinfo.errors import InputError
from uniqueinfo.training.algorithm import (
    Filter,
    Reduction,
    Training,
    check_not_negative,
    check_positive,
    check_reduction,
    per_sum,
)
from uniqueinfo.training.flow import SMALL, GradientFlow
from uniqueinfo.training.loss_names import LossFunction, check_loss
from uniqueinfo.types import Floats


@dataclass(frozen=True)
class DescentFilter:
    """φ(z) = (1 − (1 − η(z+λ))^t) / (z+λ): t steps of gradient descent.

    >>> φ = DescentFilter(rate=0.1, steps=3, decay=0.0)
    >>> w, z = 0.0, 4.0                      # one weight, J = 2, r = 1: the loss is (2w − 1)²/2
    >>> for _ in range(3):
    ...     w -= 0.1 * 2 * (2 * w - 1)
    >>> bool(np.isclose(w, φ(np.array([z]))[0] * 2))
    True
    """

    rate: float
    steps: int
    decay: float

    @property
    def horizon(self) -> float:
        """The rate times the number of steps."""
        return self.rate * self.steps

    def __call__(self, z: Floats) -> Floats:
        """φ(z)."""
        y = z + self.decay
        reached = _reached(self.rate * y, self.steps)
        return np.divide(reached, y, out=np.full_like(y, self.horizon), where=y > 0)

    @property
    def unit(self) -> float:
        """The rate."""
        return self.rate

    def of_unit(self) -> DescentFilter:
        """As many steps at rate 1."""
        return DescentFilter(1.0, self.steps, 0.0)

    def kept(self, z: Floats) -> Floats:
        """(1 − η(z+λ))^t: what is left of a difference after these steps."""
        return 1 - _reached(self.rate * (z + self.decay), self.steps)

    def ramp(self, z: Floats) -> Floats:
        """Σ_u (u/t) η (1 − η(z+λ))^{t−1−u} = (1 − φ/ηt)/(z+λ): what a push does that grows evenly from nothing."""
        y, t = z + self.decay, self.steps
        small = self.horizon * y < SMALL
        exact = np.divide(1 - self(z) / self.horizon, y, out=np.zeros_like(y), where=~small)
        return np.where(small, self.rate * ((t - 1) / 2 - self.rate * y * (t - 1) * (t - 2) / 6), exact)


@dataclass(frozen=True)
class MomentumFilter:
    """Heavy-ball descent, v ← μv + ∇, w ← w − ηv: a polynomial in y = z + λ given by a recurrence.

        φ₀ = 0,  φ₁ = η,  φ_{t+1} = (1 + μ − ηy) φ_t − μ φ_{t−1} + η

    In the roots 1 − d of its characteristic equation it is closed: with d₁d₂ = ηy and a_i = 1 − (1 − d_i)^t,

        yφ_t = [d₂(1 − d₁) a₁ − d₁(1 − d₂) a₂] / (d₂ − d₁)

    >>> φ = MomentumFilter(rate=0.1, momentum=0.5, steps=2, decay=0.0)
    >>> bool(np.isclose(φ(np.array([1.0]))[0], 1.4 * 0.1 + 0.1))
    True
    """

    rate: float
    momentum: float
    steps: int
    decay: float

    @property
    def horizon(self) -> float:
        """Σ over steps of the effective rate: η Σ_{s<t} (1 − μ^{s+1})/(1 − μ), which is φ at y = 0."""
        μ, t = self.momentum, self.steps
        return self.rate * (t - μ * (1 - μ**t) / (1 - μ)) / (1 - μ)

    def __call__(self, z: Floats) -> Floats:
        """φ(z)."""
        x = self.rate * (z + self.decay)
        trace = 1 - self.momentum + x
        spread = trace**2 - 4 * x  # (d₂ − d₁)²: negative where the two roots are complex
        φ = np.empty_like(x)
        apart = np.abs(spread) < 1e-4 * (1 - self.momentum) ** 2  # the roots meet
        φ[apart] = self._recurrence(x[apart])
        φ[x == 0] = self.horizon
        real = ~apart & (spread > 0) & (x > 0)
        root = np.sqrt(spread[real])
        large = (trace[real] + root) / 2
        small = x[real] / large
        gained = large * (1 - small) * _reached(small, self.steps) - small * (1 - large) * _reached(large, self.steps)
        φ[real] = self.rate * gained / (root * x[real])
        turning = ~apart & (spread < 0)  # conjugate roots: d₁ = conj d₂, so the bracket is twice an imaginary part
        d = (trace[turning] + 1j * np.sqrt(-spread[turning])) / 2
        gained = (d * (1 - d.conj()) * (1 - (1 - d.conj()) ** self.steps)).imag / d.imag
        φ[turning] = self.rate * gained / x[turning]
        return φ

    def _recurrence(self, x: Floats) -> Floats:
        """The recurrence itself by squaring its 3×3 matrix, in extended precision where there is one."""
        step = np.zeros((*x.shape, 3, 3), dtype=np.longdouble)
        step[..., 0, 0] = 1 + np.longdouble(self.momentum) - x
        step[..., 0, 1] = -self.momentum
        step[..., 0, 2] = self.rate
        step[..., 1, 0] = step[..., 2, 2] = 1
        return np.asarray(np.linalg.matrix_power(step, self.steps)[..., 0, 2], dtype=np.float64)


@dataclass(frozen=True)
class GradientDescent(Training):
    """Full-batch gradient descent from w0 for a number of steps.

    Weight decay pulls towards w0; momentum is PyTorch's (heavy ball, no dampening).

    >>> GradientDescent(lr=0.1, steps=100).filter(samples=10)
    DescentFilter(rate=0.01, steps=100, decay=0.0)
    """

    name: ClassVar[str] = "descent"
    options: ClassVar[dict[str, str]] = {
        "lr": "lr",
        "steps": "steps",
        "momentum": "momentum",
        "weight_decay": "weight_decay",
    }

    lr: float
    """The learning rate, as handed to the optimizer."""
    steps: int
    """How many, each over all samples."""
    weight_decay: float = 0.0
    """λ: how strongly the weights are pulled towards where they began."""
    momentum: float = 0.0
    """μ, from 0 to 1."""
    reduction: Reduction = "mean"
    loss: str | LossFunction = "mse"

    def __post_init__(self) -> None:
        check_positive(self, "lr", self.lr)
        if not isinstance(self.steps, int | np.integer) or isinstance(self.steps, bool) or self.steps < 1:
            raise InputError(f"GradientDescent: steps must be a whole number of at least 1, got {self.steps!r}")
        check_not_negative(self, "weight_decay", self.weight_decay)
        check_not_negative(self, "momentum", self.momentum)
        if self.momentum >= 1:
            raise InputError(f"GradientDescent: momentum must be at least 0 and below 1, got {self.momentum!r}")
        check_reduction(self, self.reduction)
        check_loss(self.loss)

    def filter(self, samples: int) -> Filter:
        """The filter of these steps on this many samples."""
        rate, decay = per_sum(self.reduction, samples, self.lr, self.weight_decay)
        if self.momentum:
            return MomentumFilter(rate, self.momentum, int(self.steps), decay)
        return DescentFilter(rate, int(self.steps), decay)

    @property
    def rate(self) -> float:
        """lr."""
        return self.lr

    @property
    def length(self) -> float:
        """The number of steps."""
        return float(self.steps)

    def words(self) -> str:
        """With what differs from plain descent.

        >>> GradientDescent(lr=0.1, steps=1000, momentum=0.9).words()
        '1,000 steps of gradient descent at rate 0.1, momentum 0.9'
        """
        also = [("momentum", self.momentum), ("weight decay", self.weight_decay)]
        told = "".join(f", {name} {value:.3g}" for name, value in also if value)
        return f"{self.steps:,} steps of gradient descent at rate {self.lr:.3g}{told}{self.in_words()}"

    def largest_stable_rate(self, largest: float, samples: int) -> float:
        """Descent contracts every direction while η(z + λ) < 2(1 + μ)."""
        rate, decay = per_sum(self.reduction, samples, 1.0, self.weight_decay)
        curvature = rate * (largest + decay)
        return 2 * (1 + self.momentum) / curvature if curvature > 0 else math.inf

    def flow(self) -> GradientFlow:
        """Gradient flow of the same length, which is stable whatever the data.

        >>> GradientDescent(lr=0.1, steps=50, momentum=0.5).flow()
        GradientFlow(lr=0.2, time=50.0, weight_decay=0.0, reduction='mean', loss='mse')
        """
        rate = self.lr / (1 - self.momentum)
        return GradientFlow(rate, float(self.steps), self.weight_decay, self.reduction, self.loss)

    def stretch(self, start: float, end: float) -> GradientDescent:
        """The steps between two numbers of steps, which must be whole."""
        return replace(self, steps=round(end) - round(start))


def _reached(x: Floats, steps: int) -> Floats:
    """1 − (1 − x)^t from the logarithm of |1 − x|, so that it keeps its digits where x ≈ 0 and where x ≈ 2."""
    with np.errstate(divide="ignore"):  # log 0 = −∞ where one step does all: 1 − 0^t = 1
        log = np.where(x < 1, np.log1p(-np.minimum(x, 1)), np.log1p(np.maximum(x, 1) - 2))
    negative = (x > 1) & (steps % 2 == 1)
    reached: Floats = np.where(negative, 1 + np.exp(steps * log), -np.expm1(steps * log))
    return reached
