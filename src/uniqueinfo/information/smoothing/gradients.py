"""The gradients of single samples at the trained weights, and their covariance Λ: the noise of SGD.

The loss of a sample has the gradient g_i = −J_iᵀe_i with the misfit e_i = y_i − f_w(x_i), and

    Λ = (1/n) Σ_i g_i g_iᵀ − ḡ ḡᵀ.

Weight decay moves all gradients alike and leaves Λ as it is. Λ lies in the row space of the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.samples.border import FLAG, Kind, takes
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.training import Training


@dataclass(frozen=True, eq=False)
class State:
    """TrainedSystem weights seen from an eigenbasis of the Hessian: the curvature there, and every sample's gradient.

    Outputs that share their features (a linear head) have coordinates of their own each, one after the other.
    """

    curvature: Tensor
    """Eigenvalues of the Hessian of the loss, (rank,)."""
    rows: Callable[[slice], Tensor]
    """Z of a slice of the samples, (samples, per_sample, rank)."""
    misfit: Tensor
    """Targets − outputs, (n, per_sample, columns)."""
    mean: Tensor
    """(1/n) Σ Z_iᵀe_i, (columns, rank)."""

    @classmethod
    def of(cls, run: TrainedSystem) -> State:
        """After a training."""
        system, kept = run.system, row_space(run)

        def rows(part: slice) -> Tensor:
            return system.right(system.left(part))[..., kept]

        h = curvature(run.training, system.values[kept], run.samples)
        return cls(h, rows, _misfit(run), _mean(run)[kept].T)

    @property
    def dimensions(self) -> int:
        """How many coordinates there are."""
        return self.mean.numel()

    def covariance(self, diagonal: bool) -> Tensor:
        """Λ in these coordinates, (d, d), or its diagonal, (d,)."""
        d, n = self.dimensions, len(self.misfit)
        total = self.mean.new_zeros((d,) if diagonal else (d, d))
        for part in slices(n, 8 * (d + self.misfit.shape[1] * len(self.curvature))):
            away = (self.misfit[part].transpose(1, 2) @ self.rows(part) - self.mean).flatten(1)
            if diagonal:
                total += away.square().sum(dim=0)
            else:
                total.addmm_(away.T, away)
        return total / n


def row_space(run: TrainedSystem) -> slice:
    """The coordinates with eigenvalues that are more than rounding; eigenvalues come in rising order."""
    return slice(int((run.system.values <= run.system.negligible).sum()), None)


def curvature(training: Training, values: Tensor, samples: int) -> Tensor:
    """Eigenvalues of the Hessian from those of JᵀJ: of JᵀJ + λI under the sum, of JᵀJ/n + λI under the mean."""
    summed = values + training.filter(samples).decay
    return summed / samples if training.reduction == "mean" else summed


def typical_gradient(run: TrainedSystem) -> float:
    """The mean squared length of a gradient before training, for rows and residuals of average length."""
    return float(run.system.values.sum() * run.residual.square().sum()) / run.samples**2


@takes(run=Kind("a trained linearization, as linearization.train gives", (TrainedSystem,)), diagonal=FLAG)
def gradient_covariance(run: TrainedSystem, diagonal: bool = False) -> NDArray[np.float64]:
    """Λ over the weights themselves, (D, D), or its diagonal, (D,), in the order of `run.weights().ravel()`.

    `run`: a trained linearization. `diagonal`: whether the diagonal is enough.

    >>> from uniqueinfo import Converged, Linearization
    >>> J = np.array([[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 2.0]]])
    >>> run = Linearization.from_jacobian(J, np.array([[0.0], [2.0], [1.0]])).train(Converged())
    >>> gradient_covariance(run).round(3) + 0.0  # two samples pull one weight by 1, each its way; the third is content
    array([[0.667, 0.   ],
           [0.   , 0.   ]])
    """
    rows, samples = run.system.rows, run.samples
    if rows is None:
        raise InputError("gradient_covariance: only the kernel of this network is known, and a kernel has no weights")
    misfit, mean = _misfit(run), run.system.weights(_mean(run))
    d = mean.numel()
    total = mean.new_zeros((d,) if diagonal else (d, d))
    for part in slices(samples, 8 * (d + rows.per_sample * rows.width)):
        away = (rows[part].transpose(1, 2) @ misfit[part] - mean).flatten(1)
        total = total + (away.square().sum(dim=0) if diagonal else away.T @ away)
    found: NDArray[np.float64] = (total / samples).cpu().numpy()
    return found


def _misfit(run: TrainedSystem) -> Tensor:
    """Targets − outputs after the training, (n, per_sample, columns)."""
    return run.residual - run.system.fitted(run.coordinates)


def _mean(run: TrainedSystem) -> Tensor:
    """(1/n) Zᵀ(r − Zw), where ZᵀZ = diag(s), (rank, columns)."""
    return (run.system.moment - run.system.values[:, None] * run.coordinates) / run.samples
