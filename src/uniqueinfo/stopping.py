"""`training="auto"`: a stable rate, and the stopping time with the least leave-one-out error.

Every sample is predicted by the training without it, for a whole grid of training times. The eigendecomposition is
shared; a time costs only the poles of its filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from uniqueinfo.linearized.rows import slices
from uniqueinfo.progress import progress
from uniqueinfo.rational import fit
from uniqueinfo.removal.solve import by_pole
from uniqueinfo.training import GradientDescent

if TYPE_CHECKING:
    from uniqueinfo.linearized.linearization import Linearization

_MOST_SAMPLES = 20_000  # leave-one-out error is an average: more samples than these only cost time
_STEPS = np.unique(np.round(10 ** np.arange(0, 7.01, 0.25)).astype(int))


@dataclass(frozen=True, eq=False)
class StoppingCurve:
    """Leave-one-out error against training time."""

    lr: float
    steps: NDArray[np.intp]
    error: NDArray[np.float64]
    """Mean over samples of ½‖f₋ᵢ(xᵢ) − yᵢ‖²."""

    @property
    def best(self) -> GradientDescent:
        """The training with the least error."""
        return GradientDescent(self.lr, int(self.steps[self.error.argmin()]))


def stopping_curve(linearization: Linearization) -> StoppingCurve:
    """Half of the largest stable rate, and the leave-one-out error over a log grid of steps."""
    system, n = linearization.system, linearization.samples
    rest = n - 1 or n
    limit = GradientDescent(lr=1.0, steps=1).largest_stable_rate(system.largest, rest)
    lr = limit / 2 if np.isfinite(limit) else 1.0
    filters = [GradientDescent(lr, int(steps)).filter(rest) for steps in _STEPS]
    fits = [fit(filter, system.largest) for filter in filters]
    poles = np.concatenate([found.poles for found in fits])
    weights = torch.from_numpy(np.concatenate([found.weights for found in fits])).to(system.values.device)
    weights = torch.where(weights.new_tensor(poles.imag == 0, dtype=torch.bool), weights, 2 * weights)
    owner = torch.from_numpy(np.repeat(np.arange(len(fits)), [len(found.poles) for found in fits]))
    constants = torch.tensor([found.constant for found in fits], dtype=torch.float64, device=system.values.device)
    learnt = torch.stack([system.apply(filter)[:, None] * system.moment for filter in filters], dim=-1).flatten(1)

    chosen = _subset(n)
    total = torch.zeros(len(fits), dtype=torch.float64, device=system.values.device)
    rows, columns = linearization.residual.shape[1:]
    with progress("Stopping time", len(chosen)) as advance:
        for part in slices(len(chosen), 16 * (system.rank * rows + len(poles) * rows * (rows + 3 * columns))):
            left = system.left(chosen[part])
            right = system.right(left)
            residual = linearization.residual[torch.from_numpy(chosen[part]).to(left.device)]
            _, own = by_pole(system, poles, left, residual)
            moved = (right @ (right.transpose(1, 2) @ residual))[..., None] * constants
            moved = moved.index_add(3, owner.to(left.device), (own * weights).real)
            fitted = (right @ learnt).reshape(*residual.shape, len(fits))
            total += (fitted - moved - residual[..., None]).square().sum(dim=(0, 1, 2)) / 2
            advance(part.stop - part.start)
    return StoppingCurve(lr, _STEPS, (total / len(chosen)).cpu().numpy())


def _subset(samples: int) -> NDArray[np.intp]:
    if samples <= _MOST_SAMPLES:
        return np.arange(samples)
    return np.sort(np.random.default_rng(0).choice(samples, _MOST_SAMPLES, replace=False))
