"""The steady state of a linear stochastic process in the eigenbasis of its drift."""

from __future__ import annotations

from torch import Tensor


def lyapunov(curvature: Tensor, noise: Tensor) -> Tensor:
    """Solve HΣ + ΣHᵀ = Λ for H = diag(h): Σ_ab = Λ_ab / (h_a + h_b), entry by entry.

    Where h_a = h_b = 0 nothing pulls and, for the gradients of a loss, nothing pushes: Σ_ab = 0. A vector in place of Λ
    is its diagonal, and gives that of Σ.

    >>> import numpy as np, torch
    >>> from scipy.linalg import solve_continuous_lyapunov
    >>> h, noise = torch.tensor([1.0, 2.0, 5.0]).double(), torch.tensor([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]]).double()
    >>> bool(np.allclose(lyapunov(h, noise), solve_continuous_lyapunov(np.diag(h), noise.numpy())))
    True
    """
    pull = 2 * curvature if noise.ndim == 1 else curvature[:, None] + curvature
    return (noise / pull).masked_fill_(pull <= 0, 0.0)
