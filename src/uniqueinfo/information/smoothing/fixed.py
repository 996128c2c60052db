"""Smoothings that do not depend on the training data: isotropic, and the inverse of the Fisher matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from uniqueinfo.information.measures import Precision
from uniqueinfo.information.smoothing.smoothing import Smoothing
from uniqueinfo.removal.changes import Delta
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training import check_positive


@dataclass(frozen=True, eq=False)
class Separate:
    """A Σ⁻¹ known outright, the same for every output that shares the features of the others."""

    metric: Metric
    conditioning: None = None

    def of(self, delta: Delta) -> tuple[Tensor, Tensor]:
        """δᵀΣ⁻¹δ; nothing was raised."""
        found = delta.quadratic(self.metric)
        return found, found.new_zeros(found.shape)


@dataclass(frozen=True)
class Isotropic(Smoothing):
    """Σ = σ²I: SI = ‖w − w₋‖² / 2σ².

    >>> import numpy as np
    >>> from uniqueinfo import Converged, Linearization
    >>> run = Linearization.from_jacobian(np.ones((2, 1, 1)), np.array([[0.0], [2.0]])).train(Converged())
    >>> run.leave_out().weight_information(Isotropic(sigma=0.5))  # the mean of 0 and 2 without one of them
    array([2., 2.])
    """

    sigma: float = 1.0
    """σ: how far the weights are spread in every direction."""

    def __post_init__(self) -> None:
        check_positive(self, "sigma", self.sigma)

    def precision(self, run: TrainedSystem) -> Precision:
        """I/σ²."""
        values = run.system.values
        return Separate(Metric(values.new_full(values.shape, self.sigma**-2), factor=False))

    def settings(self) -> dict[str, Any]:
        """With σ."""
        return super().settings() | {"sigma": self.sigma}


@dataclass(frozen=True, eq=False)
class Fisher(Smoothing):
    """Σ = F⁻¹, F = J_valᵀJ_val / m: SI is then functional information, (1/2m) Σ_j ‖f_w(x_j) − f_w₋(x_j)‖².

    `val`: a probe, or what the linearization's `probe` takes (rows; for a network a data set).

    >>> import numpy as np
    >>> from uniqueinfo import Converged, Linearization
    >>> linearization = Linearization.from_jacobian(np.ones((2, 1, 1)), np.array([[0.0], [2.0]]))
    >>> removal = linearization.train(Converged()).leave_out()
    >>> val = 3 * np.ones((4, 1, 1))
    >>> removal.weight_information(Fisher(val)), removal.functional_information(linearization.probe(val))
    (array([4.5, 4.5]), array([4.5, 4.5]))
    """

    val: Any

    def precision(self, run: TrainedSystem) -> Precision:
        """F: never inverted, so directions that no validation sample sees cost nothing."""
        probe = self.val if isinstance(self.val, Probe) else run.probe(self.val)
        return Separate(probe.fisher)
