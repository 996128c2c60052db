"""Training algorithms, each of them a spectral filter.

Training a linearized network with the squared loss gives

    w − w0 = φ(H) Jᵀ r,    H = JᵀJ,    r = targets − initial outputs,

and the algorithm (descent, flow, run to the end) enters through the scalar function φ alone.

The loss of a sample is ½‖f(x) − y‖². With ``loss="sum"`` the training loss is Σᵢ ½‖f(xᵢ) − yᵢ‖² + (λ/2)‖w − w0‖²,
with ``loss="mean"`` the sum is divided by the number of samples. A mean over n samples with rate lr and decay λ is the
sum with rate lr/n and decay nλ, so under "mean" the filter changes when samples leave; under "sum" it does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError

Floats = NDArray[np.float64]
Loss = Literal["mean", "sum"]


class Filter(Protocol):
    """The scalar function φ of one training run, in the convention of the summed loss."""

    def __hash__(self) -> int: ...

    @property
    def decay(self) -> float:
        """The weight decay λ: φ depends on z through z + λ alone."""

    @property
    def horizon(self) -> float:
        """φ where z + λ = 0: the rate times the number of steps (infinite for training run to the end)."""

    def __call__(self, z: Floats) -> Floats:
        """φ(z) for eigenvalues z ≥ 0 of the kernel."""


@runtime_checkable
class Training(Protocol):
    """A training algorithm: a frozen value that knows its filter for any number of samples."""

    @property
    def loss(self) -> Loss:
        """Whether the training loss is a sum or a mean over samples."""

    def filter(self, samples: int) -> Filter:
        """The filter of training on this many samples."""

    def largest_stable_rate(self, largest: float, samples: int) -> float:
        """The learning rate from which on training diverges, given the largest eigenvalue of the kernel."""


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
class GradientDescent:
    """Full-batch gradient descent from w0 for a number of steps.

    Weight decay pulls towards w0; momentum is PyTorch's (heavy ball, no dampening).

    >>> GradientDescent(lr=0.1, steps=100).filter(samples=10)
    DescentFilter(rate=0.01, steps=100, decay=0.0)
    """

    lr: float
    steps: int
    weight_decay: float = 0.0
    momentum: float = 0.0
    loss: Loss = "mean"

    def __post_init__(self) -> None:
        check_positive(self, "lr", self.lr)
        if not isinstance(self.steps, int | np.integer) or isinstance(self.steps, bool) or self.steps < 1:
            raise InputError(f"GradientDescent: steps must be a whole number of at least 1, got {self.steps!r}")
        _not_negative(self, "weight_decay", self.weight_decay)
        if not 0 <= self.momentum < 1:
            raise InputError(f"GradientDescent: momentum must be at least 0 and below 1, got {self.momentum!r}")
        _known_loss(self, self.loss)

    def filter(self, samples: int) -> Filter:
        """The filter of these steps on this many samples."""
        rate, decay = _per_sum(self.loss, samples, self.lr, self.weight_decay)
        if self.momentum:
            return MomentumFilter(rate, self.momentum, int(self.steps), decay)
        return DescentFilter(rate, int(self.steps), decay)

    def largest_stable_rate(self, largest: float, samples: int) -> float:
        """Descent contracts every direction while η(z + λ) < 2(1 + μ)."""
        rate, decay = _per_sum(self.loss, samples, 1.0, self.weight_decay)
        curvature = rate * (largest + decay)
        return 2 * (1 + self.momentum) / curvature if curvature > 0 else math.inf

    def flow(self) -> GradientFlow:
        """Gradient flow of the same length, which is stable whatever the data.

        >>> GradientDescent(lr=0.1, steps=50, momentum=0.5).flow()
        GradientFlow(lr=0.2, time=50.0, weight_decay=0.0, loss='mean')
        """
        return GradientFlow(self.lr / (1 - self.momentum), float(self.steps), self.weight_decay, self.loss)


@dataclass(frozen=True)
class GradientFlow:
    """Gradient descent in the limit of small steps, for a time (counted in steps of size lr).

    >>> GradientFlow(lr=0.1, time=50.0, loss="sum").filter(samples=10)
    FlowFilter(horizon=5.0, decay=0.0)
    """

    lr: float
    time: float
    weight_decay: float = 0.0
    loss: Loss = "mean"

    def __post_init__(self) -> None:
        check_positive(self, "lr", self.lr)
        check_positive(self, "time", self.time)
        _not_negative(self, "weight_decay", self.weight_decay)
        _known_loss(self, self.loss)

    def filter(self, samples: int) -> Filter:
        """The filter of this time on this many samples."""
        rate, decay = _per_sum(self.loss, samples, self.lr, self.weight_decay)
        return FlowFilter(rate * self.time, decay)

    def largest_stable_rate(self, largest: float, samples: int) -> float:
        """Flow is stable at every rate."""
        return math.inf


@dataclass(frozen=True)
class Converged:
    """Training run to the end: ridge regression; without decay the solution nearest to w0.

    >>> Converged(weight_decay=0.01).filter(samples=100)
    ConvergedFilter(decay=1.0, horizon=inf)
    """

    weight_decay: float = 0.0
    loss: Loss = "mean"

    def __post_init__(self) -> None:
        _not_negative(self, "weight_decay", self.weight_decay)
        _known_loss(self, self.loss)

    def filter(self, samples: int) -> Filter:
        """The filter of the minimum over this many samples."""
        return ConvergedFilter(_per_sum(self.loss, samples, 1.0, self.weight_decay)[1])

    def largest_stable_rate(self, largest: float, samples: int) -> float:
        """There is no rate."""
        return math.inf


def from_settings(settings: Mapping[str, Any]) -> Training:
    """The training algorithm that the settings of scores name.

    >>> from_settings({"algorithm": "Converged", "weight_decay": 0.1, "loss": "mean"})
    Converged(weight_decay=0.1, loss='mean')
    """
    kinds = {kind.__name__: kind for kind in (GradientDescent, GradientFlow, Converged)}
    found: Training = kinds[settings["algorithm"]](**{k: v for k, v in settings.items() if k != "algorithm"})
    return found


def check_stable(training: Training, largest: float, samples: int) -> None:
    """Refuse a learning rate at which descent diverges, naming the largest that does not."""
    limit = training.largest_stable_rate(largest, samples)
    if isinstance(training, GradientDescent) and training.lr >= limit:
        raise InputError(
            f"GradientDescent(lr={training.lr:g}) diverges on {samples} samples: the kernel's largest eigenvalue is "
            f"{largest:.6g}, so lr must stay below {limit:.6g}. Lower lr (and raise steps to train as long)."
        )


def _reached(x: Floats, steps: int) -> Floats:
    """1 − (1 − x)^t from the logarithm of |1 − x|, so that it keeps its digits where x ≈ 0 and where x ≈ 2."""
    with np.errstate(divide="ignore"):  # log 0 = −∞ where one step does all: 1 − 0^t = 1
        log = np.where(x < 1, np.log1p(-np.minimum(x, 1)), np.log1p(np.maximum(x, 1) - 2))
    negative = (x > 1) & (steps % 2 == 1)
    reached: Floats = np.where(negative, 1 + np.exp(steps * log), -np.expm1(steps * log))
    return reached


def _per_sum(loss: Loss, samples: int, rate: float, decay: float) -> tuple[float, float]:
    """Rate and decay of the summed loss that train like the given ones do under this convention."""
    return (rate / samples, decay * samples) if loss == "mean" else (rate, decay)


def check_positive(owner: object, name: str, value: float) -> None:
    """Refuse a setting that is not a finite number above 0, naming it."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{type(owner).__name__}: {name} must be a finite number above 0, got {value!r}")


def _not_negative(owner: object, name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{type(owner).__name__}: {name} must be a finite number of at least 0, got {value!r}")


def _known_loss(owner: object, loss: str) -> None:
    if loss not in ("mean", "sum"):
        raise InputError(f'{type(owner).__name__}: loss must be "mean" or "sum", got {loss!r}')
