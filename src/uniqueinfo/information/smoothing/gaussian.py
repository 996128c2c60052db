"""A Gaussian through its principal axes, with a floor under its variances."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.information.measures import Conditioning
from uniqueinfo.spectrum.eigensystem import eigh

_EPS = torch.finfo(torch.float64).eps


@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(·, Σ), Σ = B diag(s²) Bᵀ.

    >>> thin = Gaussian.floored(torch.tensor([[4.0, 0.0], [0.0, 2.0**-40]], dtype=torch.float64), floor=2.0**-20)
    >>> thin.whiten(torch.tensor([[0.0, 1.0]], dtype=torch.float64)).abs().max().item()  # 1 over √(4 · 2⁻²⁰)
    512.0
    >>> thin.conditioning.raised, thin.conditioning.condition_number == 2**42
    (1, True)
    """

    scales: Tensor
    """s, (d,)."""
    axes: Tensor | None
    """B, (d, d); None for the coordinate axes."""
    raised: Tensor
    """Which of the axes were raised to the floor, (d,)."""
    conditioning: Conditioning

    @classmethod
    def floored(cls, covariance: Tensor, floor: float) -> Gaussian:
        """From Σ (or its diagonal), with variances below `floor` times the largest raised to that."""
        variances, axes = eigh(covariance) if covariance.ndim == 2 else (covariance, None)
        largest = float(variances.max())
        raised = variances < floor * largest
        smallest = max(float(variances.min()), len(variances) * _EPS * largest)
        conditioning = Conditioning(largest / smallest, floor, int(raised.sum()), len(variances))
        return cls(variances.clamp(min=floor * largest).sqrt(), axes, raised, conditioning)

    def whiten(self, vectors: Tensor) -> Tensor:
        """s⁻¹Bᵀv of every vector (…, d): its square is vᵀΣ⁻¹v."""
        return (vectors if self.axes is None else vectors @ self.axes) / self.scales

    def root(self) -> Tensor:
        """A matrix R with RᵀR = Σ, (d, d): the axes as rows, as long as the Gaussian is wide."""
        return torch.diag(self.scales) if self.axes is None else self.scales[:, None] * self.axes.T

    @property
    def log_det(self) -> float:
        """log |Σ|."""
        return 2 * float(self.scales.log().sum())
