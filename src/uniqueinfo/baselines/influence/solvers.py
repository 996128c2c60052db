"""Ways to A⁻¹V for the curvature A of the training loss: a truncated series, conjugate gradients, or densely."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.baselines.influence.curvature import Curvature
from uniqueinfo.errors import InputError
from uniqueinfo.memory import as_text, available

Inverse = Callable[[Tensor], Tensor]
Advance = Callable[[int], None]


class Solver(Protocol):
    """A frozen value that knows how to apply the inverse of a curvature."""

    def products(self, vectors: int, width: int) -> int:
        """How many products with A this takes at most, for so many vectors."""
        ...

    def inverse(self, curvature: Curvature, advance: Advance) -> Inverse:
        """A function from vectors (s, D) to A⁻¹ of each; `advance` is told of products done."""
        ...


@dataclass(frozen=True)
class LiSSA:
    """A truncated Neumann series over mini-batches (Agarwal, Bullins & Hazan 2017; Koh & Liang 2017):

        h₀ = v,   h ← v + (1 − damping) h − A_batch h / scale,   A⁻¹v ≈ h / scale

    The recursion tends to (A + scale·damping·I)⁻¹v, so the damping is counted in units of the scale. It needs a scale
    above half the largest eigenvalue of every batch's A, and has settled for the eigenvalues above scale/recursions.
    The defaults are the paper's; damping is for λ = 0, and its ResNets take 50 recursions.

    >>> from torch import nn
    >>> curvature = Curvature(nn.Linear(1, 1, bias=False), torch.tensor([[2.0]]), torch.zeros(1, 1))
    >>> LiSSA(recursions=200, scale=8.0, damping=0.0).inverse(curvature, lambda _: None)(torch.ones(1, 1))  # 1/2²
    tensor([[0.2500]])
    """

    recursions: int = 1000
    scale: float = 1000.0
    damping: float = 0.01
    batch_size: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        _at_least(self, "recursions", self.recursions, 1)
        _at_least(self, "batch_size", self.batch_size, 1)
        _at_least(self, "damping", self.damping, 0)
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"LiSSA: scale must be a finite number above 0, got {self.scale!r}")

    def products(self, vectors: int, width: int) -> int:
        """See `Solver`."""
        return vectors * self.recursions

    def inverse(self, curvature: Curvature, advance: Advance) -> Inverse:
        """See `Solver`."""

        def solve(vectors: Tensor) -> Tensor:
            random = np.random.default_rng(self.seed)  # the same batches for all vectors, however they are divided
            size = min(self.batch_size, curvature.samples)
            found = vectors.clone()
            for _ in range(self.recursions):
                step = curvature.product(found, random.choice(curvature.samples, size, replace=False))
                found.mul_(1 - self.damping).add_(vectors).sub_(step, alpha=1 / self.scale)
                if not found.isfinite().all():
                    raise InputError(
                        f"LiSSA(scale={self.scale:g}) diverges: the scale must be above half the largest eigenvalue of "
                        "the loss's Hessian on every batch, and damping must outweigh negative ones. Raise one of them"
                    )
                advance(len(vectors))
            return found / self.scale

        return solve


@dataclass(frozen=True)
class ConjugateGradients:
    """Conjugate gradients on (A + damping·I) x = v over all samples, until ‖residual‖ ≤ tolerance·‖v‖ for each vector.

    They need a positive definite matrix; the Hessian of a network that has not converged often is not, and then
    damping or the Gauss–Newton matrix is what helps.
    """

    damping: float = 0.01
    tolerance: float = 1e-4
    iterations: int = 200

    def __post_init__(self) -> None:
        _at_least(self, "iterations", self.iterations, 1)
        _at_least(self, "damping", self.damping, 0)
        _at_least(self, "tolerance", self.tolerance, 0)

    def products(self, vectors: int, width: int) -> int:
        """See `Solver`."""
        return vectors * self.iterations

    def inverse(self, curvature: Curvature, advance: Advance) -> Inverse:
        """See `Solver`."""

        def solve(vectors: Tensor) -> Tensor:
            found, residual, direction = torch.zeros_like(vectors), vectors.clone(), vectors.clone()
            size = residual.square().sum(1)
            goal = size * self.tolerance**2
            for done in range(self.iterations):
                going = size > goal
                if not going.any():
                    advance(len(vectors) * (self.iterations - done))
                    return found
                ahead = curvature.product(direction).add_(direction, alpha=self.damping)
                bend = (direction * ahead).sum(1)
                self._check_positive(bend[going] / direction[going].square().sum(1))
                step = torch.where(going, size / bend, 0.0)[:, None]
                found += step * direction
                residual -= step * ahead
                before, size = size, residual.square().sum(1)
                direction.mul_(torch.where(going, size / before, 0.0)[:, None]).add_(residual)
                advance(len(vectors))
            worst = float((size / (goal / self.tolerance**2)).max().sqrt()) if self.tolerance else math.inf
            if not worst <= self.tolerance:
                warnings.warn(
                    f"conjugate gradients stopped after {self.iterations} iterations with a residual of {worst:.2g} "
                    f"where {self.tolerance:g} was asked for: raise iterations, damping or tolerance",
                    stacklevel=2,
                )
            return found

        return solve

    def _check_positive(self, curvature: Tensor) -> None:
        if (least := float(curvature.min())) <= 0:
            raise InputError(
                f"ConjugateGradients(damping={self.damping:g}) met a direction of curvature {least:.3g}: they need a "
                'positive definite Hessian. Raise damping above its size, or take curvature="gauss-newton"'
            )


@dataclass(frozen=True)
class Exact:
    """The matrix A + damping·I itself, D × D in float64, and its factors: for small networks, and as an oracle.

    >>> from torch import nn
    >>> curvature = Curvature(nn.Linear(1, 1, bias=False), torch.tensor([[2.0]]), torch.zeros(1, 1))
    >>> Exact(damping=1.0).inverse(curvature, lambda _: None)(torch.ones(1, 1))  # 1/(2² + 1)
    tensor([[0.2000]])
    """

    damping: float = 0.0

    def __post_init__(self) -> None:
        _at_least(self, "damping", self.damping, 0)

    def products(self, vectors: int, width: int) -> int:
        """See `Solver`."""
        return width

    def inverse(self, curvature: Curvature, advance: Advance) -> Inverse:
        """See `Solver`."""
        width, dtype, device = curvature.width, curvature.dtype, curvature.device
        if 4 * 8 * width**2 > available():
            raise InputError(
                f"Exact: the Hessian of {width:,} parameters takes {as_text(8 * width**2)}, and some copies: "
                "take ConjugateGradients or LiSSA"
            )
        matrix = torch.zeros(width, width, dtype=torch.float64, device=device)
        for rows in torch.split(torch.arange(width), 64):
            unit = torch.zeros(len(rows), width, dtype=dtype, device=device)
            unit[torch.arange(len(rows)), rows] = 1
            matrix[rows.to(device)] = curvature.product(unit).double()
            advance(len(rows))
        matrix = (matrix + matrix.T) / 2
        matrix.diagonal().add_(self.damping)
        factors = torch.linalg.lu_factor(matrix)
        return lambda vectors: torch.linalg.lu_solve(*factors, vectors.double().T).T.to(vectors.dtype)


def _at_least(owner: object, name: str, value: float, least: int) -> None:
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{type(owner).__name__}: {name} must be a finite number of at least {least}, got {value!r}")
