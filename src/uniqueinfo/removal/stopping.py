"""`training="auto"`: a stable rate, and the stopping time with the least leave-one-out error.

Every sample is predicted by the training without it, for a whole grid of training times. The eigendecomposition is
shared; a time costs only the poles of its filter. Those are the same for all data, but for their scale: the rate is one
over the largest eigenvalue, so that t steps are φ(z) = φ₁(z/λ)/λ with φ₁(u) = (1 − (1 − u)^t)/u.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.removal.solve import by_pole
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.training import DescentFilter, GradientDescent
from uniqueinfo.training.rational import Complexes, Rational, fit

_MOST_SAMPLES = 20_000  # leave-one-out error is an average: more samples than these only cost time
_STEPS = np.unique(np.round(10 ** np.arange(0, 7.01, 0.25)).astype(int))


@dataclass(frozen=True, eq=False)
class StoppingCurve:
    """Leave-one-out error against training time."""

    lr: float
    """The rate, half of the largest stable one."""
    steps: NDArray[np.intp]
    """The lengths that were looked at."""
    error: NDArray[np.float64]
    """Mean over samples of ½‖f₋ᵢ(xᵢ) − yᵢ‖²."""
    near: float = 0.0
    """How much above the least error, as a share of it, is as good as the least."""

    @property
    def best(self) -> GradientDescent:
        """The training with the least error; the shortest of those that are as good.

        >>> found = 0.1, np.array([1, 10, 100]), np.array([0.5, 0.203, 0.2])
        >>> StoppingCurve(*found).best.steps, StoppingCurve(*found, near=0.02).best.steps
        (100, 10)
        """
        good = self.error <= (1 + self.near) * self.error.min()
        return GradientDescent(self.lr, int(self.steps[good.argmax()]))

    def settings(self) -> dict[str, Any]:
        """For the settings of scores."""
        told = {"lr": self.lr, "steps": self.steps.tolist(), "loo_loss": self.error.tolist()}
        return {**told, "near": self.near} if self.near else told


@dataclass(frozen=True, eq=False)
class Grid:
    """The training times looked at, each with the poles of its filter and the weights it learns from all samples."""

    lr: float
    steps: NDArray[np.intp]
    poles: Complexes
    weights: Tensor
    owner: Tensor  # which time each pole belongs to
    constants: Tensor
    learnt: Tensor  # (rank, columns × times)

    @classmethod
    def of(cls, system: Eigensystem, samples: int) -> Grid:
        """Half of the largest stable rate, and a log grid of steps."""
        rest = samples - 1 or samples
        limit = GradientDescent(lr=1.0, steps=1).largest_stable_rate(system.largest, rest)
        lr = limit / 2 if np.isfinite(limit) else 1.0
        steps = _STEPS[: max(1, int((_STEPS * lr / rest <= system.reach).sum()))]
        filters = [GradientDescent(lr, int(count)).filter(rest) for count in steps]
        fits = [
            _at_unit_rate(int(count)).stretched(system.largest) if system.largest > 0 else fit(filter, 0.0)
            for count, filter in zip(steps, filters, strict=True)
        ]
        poles = np.concatenate([found.poles for found in fits])
        weights = torch.from_numpy(np.concatenate([found.weights for found in fits])).to(system.values.device)
        weights = torch.where(weights.new_tensor(poles.imag == 0, dtype=torch.bool), weights, 2 * weights)
        owner = torch.from_numpy(np.repeat(np.arange(len(fits)), [len(found.poles) for found in fits]))
        constants = torch.tensor([found.constant for found in fits], dtype=torch.float64, device=system.values.device)
        learnt = torch.stack([system.apply(filter)[:, None] * system.moment for filter in filters], dim=-1).flatten(1)
        return cls(lr, steps, poles, weights, owner, constants, learnt)

    def bytes_per_sample(self, rank: int, rows: int, columns: int) -> int:
        """What looking at one more sample takes."""
        return 16 * (rank * rows + len(self.poles) * rows * (rows + 3 * columns))

    def error(self, system: Eigensystem, left: Tensor, residual: Tensor) -> Tensor:
        """Σ ½‖f₋ᵢ(xᵢ) − yᵢ‖² over samples with these rows and residuals, for every time."""
        right = system.right(left)
        _, own = by_pole(system, self.poles, left, residual)
        moved = (right @ (right.transpose(1, 2) @ residual))[..., None] * self.constants
        moved = moved.index_add(3, self.owner.to(left.device), (own * self.weights).real)
        fitted = (right @ self.learnt).reshape(*residual.shape, len(self.constants))
        total: Tensor = (fitted - moved - residual[..., None]).square().sum(dim=(0, 1, 2)) / 2
        return total

    def curve(self, error: Tensor) -> StoppingCurve:
        """From the mean error of every time."""
        curve = StoppingCurve(self.lr, self.steps, error.cpu().numpy())
        if len(curve.steps) < len(_STEPS) and curve.error.argmin() == len(curve.steps) - 1:
            warnings.warn(
                f"training longer than {curve.steps[-1]:,} steps looks still better, but reaches directions that the "
                "sketch does not keep: keep more of them (sketch=…) to look further.",
                stacklevel=2,
            )
        return curve


def looked_at(samples: int) -> NDArray[np.intp]:
    """The samples whose error is averaged: all, or as many as settle it."""
    if samples <= _MOST_SAMPLES:
        return np.arange(samples)
    return np.sort(np.random.default_rng(0).choice(samples, _MOST_SAMPLES, replace=False))


@cache
def _at_unit_rate(steps: int) -> Rational:
    """So many steps of descent at rate 1 on [0, 1]."""
    return fit(DescentFilter(1.0, steps, 0.0), 1.0)
