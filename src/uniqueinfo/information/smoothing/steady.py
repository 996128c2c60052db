"""Smoothing by the noise of training itself: the steady state of stochastic gradient descent.

SGD with rate η and batches of b, seen in continuous time, is dw = −η∇L dt + η √(Λ/b) dn(t). Around the minimum, with H
the Hessian, it settles to a Gaussian whose covariance solves

    HΣ + ΣHᵀ = (η/b) Λ,        in H's eigenbasis Σ_ab = (η/b) Λ_ab / (h_a + h_b).

How the loss enters: under the mean, H = JᵀJ/n + λI, and this is the steady state of mini-batch SGD as one runs it
(batches drawn independently, small η; with momentum μ give η/(1 − μ)). Under the sum, H = JᵀJ + λI, the paper's formula
as it stands: the drift is that of all samples, n times as strong, the noise still that of a batch's mean gradient.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.information.measures import Conditioning, Precision, Smoothed
from uniqueinfo.information.smoothing.exact import exact_information
from uniqueinfo.information.smoothing.fixed import Separate
from uniqueinfo.information.smoothing.gaussian import Gaussian
from uniqueinfo.information.smoothing.gradients import State, curvature, row_space, typical_gradient
from uniqueinfo.information.smoothing.lyapunov import lyapunov
from uniqueinfo.information.smoothing.smoothing import Smoothing
from uniqueinfo.removal.changes import Changes, Delta
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.samples.border import FLAG, NUMBER, check_fields
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.training import check_positive

_LARGEST = 20_000  # coordinates of a covariance written out: 3 GB
_ROUNDING = 1e-20  # of a squared gradient: ten digits of the residuals are gone, and the rest is not worth inverting


@dataclass(frozen=True)
class SteadyState(Smoothing):
    """What Langevin dynamics and SGD share."""

    lr: float
    """η, of the training whose noise it is."""
    batch_size: int
    """b: how many samples a step looks at."""

    def __post_init__(self) -> None:
        check_positive(self, "lr", self.lr)
        check_positive(self, "batch_size", self.batch_size)

    @abstractmethod
    def gaussian(self, state: State, typical: float) -> Gaussian:
        """The steady state around these weights; `typical` is the squared length of a gradient before training."""

    def exact(self, run: TrainedSystem, changes: Iterable[Changes], removals: int) -> Smoothed:
        """Each removal has a steady state of its own."""
        return exact_information(run, changes, removals, self)

    def covariance(self, run: TrainedSystem) -> NDArray[np.float64]:
        """Σ over the weights (for a linear head in the order of `run.weights().ravel()`), inside the row space of J."""
        system, kept = run.system, row_space(run)
        found = self.gaussian(State.of(run), typical_gradient(run)).root()
        columns = run.residual.shape[2]
        blocks = found.new_zeros(system.rank, columns, len(found))
        blocks[kept] = found.reshape(len(found), columns, -1).permute(2, 1, 0)
        roots = system.weights(blocks.flatten(1)).reshape(-1, len(found))
        covariance: NDArray[np.float64] = (roots @ roots.T).cpu().numpy()
        return covariance

    def settings(self) -> dict[str, Any]:
        """With rate and batch size."""
        return super().settings() | asdict(self)


@dataclass(frozen=True)
class Langevin(SteadyState):
    """Noise of the same size everywhere, Λ = σ²I: Σ⁻¹ = (2b/ησ²) H, and SI = (b/ησ²) δᵀHδ.

    For a linear regression this is Cook's distance, up to a constant. H is JᵀJ + λI for training under the sum, and
    JᵀJ/n + λI under the mean, with λ the weight decay of the training.

    >>> from uniqueinfo import Converged, Linearization
    >>> J, r = np.ones((2, 1, 1)), np.array([[0.0], [2.0]])
    >>> run = Linearization.from_jacobian(J, r).train(Converged(reduction="sum"))
    >>> run.leave_out().weight_information(Langevin(lr=0.1, batch_size=1, sigma=2.0))  # δ = ±1, H = 2
    array([5., 5.])
    """

    sigma: float = 1.0
    """σ: the size of the noise."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "sigma", self.sigma)

    def precision(self, run: TrainedSystem) -> Precision:
        """(2b/ησ²) H, diagonal in its own eigenbasis."""
        h = curvature(run.training, run.system.values, run.samples)
        return Separate(Metric(h / self._temperature, factor=False))

    def gaussian(self, state: State, typical: float) -> Gaussian:
        """Independent along the eigenvectors of H."""
        if not bool((state.curvature > 0).all()):
            raise InputError(
                "Langevin: without these samples the loss is flat in a direction that they alone held, so the noise "
                "has no steady state there and the exact information is infinite. Add weight decay, or use exact=False."
            )
        variances = (self._temperature / state.curvature).repeat(len(state.mean))
        return Gaussian.floored(variances, floor=0.0)

    @property
    def _temperature(self) -> float:
        return self.lr * self.sigma**2 / (2 * self.batch_size)


@dataclass(frozen=True)
class SGD(SteadyState):
    """The noise of mini-batches, Λ the covariance of the samples' gradients at the trained weights.

    Σ is badly conditioned by nature: variances below `floor` times the largest are raised to that, and the result says
    how many were, and how much of the information they hold. With `diagonal=True` only the diagonal of Λ in the
    eigenbasis of H is used, which costs no more than isotropic smoothing.

    >>> from uniqueinfo import Converged, Linearization
    >>> J, r = np.ones((2, 1, 1)), np.array([[0.0], [2.0]])
    >>> run = Linearization.from_jacobian(J, r).train(Converged())
    >>> sgd = SGD(lr=0.1, batch_size=1)
    >>> sgd.covariance(run)  # H = Λ = 1
    array([[0.05]])
    >>> run.leave_out().weight_information(sgd)
    array([10., 10.])
    """

    diagonal: bool = False
    floor: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, diagonal=FLAG, floor=NUMBER)
        if not 0 < self.floor < 1:
            raise InputError(f"SGD: floor must be above 0 and below 1, got {self.floor!r}")

    def precision(self, run: TrainedSystem) -> Precision:
        """Through the principal axes of Σ."""
        return _Joint(self.gaussian(State.of(run), typical_gradient(run)), row_space(run))

    def gaussian(self, state: State, typical: float) -> Gaussian:
        """From the Lyapunov equation."""
        if not self.diagonal and state.dimensions > _LARGEST:
            raise InputError(
                f"SGD: the covariance of {state.dimensions:,} coordinates (the rank of the Jacobian, times the "
                "outputs of a linear head) is too large to write out. Take diagonal=True, or project to fewer."
            )
        noise = state.covariance(self.diagonal)
        trace = float(noise.sum() if self.diagonal else noise.trace())
        if trace <= _ROUNDING * typical:
            raise InputError(_without_noise(len(state.misfit)))
        h = state.curvature.repeat(len(state.mean))
        return Gaussian.floored(lyapunov(h, noise) * (self.lr / self.batch_size), self.floor)


@dataclass(frozen=True, eq=False)
class _Joint:
    """A Σ⁻¹ that ties all coordinates together, those of different outputs as well."""

    gaussian: Gaussian
    kept: slice

    @property
    def conditioning(self) -> Conditioning:
        """How Σ was inverted."""
        return self.gaussian.conditioning

    def of(self, delta: Delta) -> tuple[Tensor, Tensor]:
        """δᵀΣ⁻¹δ by its parts along the axes."""
        parts = self.gaussian.whiten(delta.explicit()[..., self.kept].flatten(1)).square()
        return parts.sum(dim=1), parts[:, self.gaussian.raised].sum(dim=1)


def _without_noise(samples: int) -> str:
    if samples == 1:
        return (
            "SGD: with a single sample every batch is the same: no noise, Σ = 0. Use Langevin or Isotropic smoothing."
        )
    return (
        f"SGD: the network interpolates its {samples} samples: every gradient is zero, so SGD has no noise (Λ = 0), "
        "Σ = 0, and the information would be infinite. Add weight decay or stop training earlier, so that residuals "
        "are left; or use Langevin or Isotropic smoothing."
    )
