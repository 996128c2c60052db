"""The closed form of a removal.

Per pole p of the filter, with E the `left` rows of the removed block (see `Eigensystem`) and D = diag(1/(s − p)),

    y = A⁻¹ b,    primal: A = I − E D Eᵀ,  b = r − E D Eᵀ_all r_all      dual: A = E D Eᵀ,  b = E D Eᵀ_all r_all

and the weights move by D Zᵀ y per pole: w − w₋ = Σⱼ cⱼ Dⱼ Zᵀ yⱼ + c₀ Zᵀ r. The removed samples' own outputs move by
Z D Zᵀ y = y − b (primal) or y + p b (dual), so leave-one-out outputs need these small blocks alone.

Every block of a chunk and every pole come out of one product: pairwise products of rows times the real columns of D.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.training.rational import Complexes, Rational


@dataclass(frozen=True, eq=False)
class Solution:
    """What leaves with each block, over a few functions of the eigenvalues: δ = Σ_rows Z ∘ (coefficients @ basis)."""

    coefficients: Tensor
    """(blocks, rows, columns, functions), real."""
    basis: Tensor
    """(functions, rank), real."""


def solve(system: Eigensystem, filter: Rational, left: Tensor, residual: Tensor) -> Solution:
    """Remove blocks (blocks, rows, rank) with residuals (blocks, rows, columns) from training by a rational filter."""
    y, _ = by_pole(system, filter.poles, left, residual)
    basis = torch.from_numpy(filter.basis(system.values.cpu().numpy())).to(left.device).T
    return Solution(spread(filter, y, residual), basis if filter.constant else basis[1:])


def spread(filter: Rational, y: Tensor, residual: Tensor) -> Tensor:
    """Of y for every pole what goes with each of the filter's real functions, a constant that is 0 left out."""
    weighted = y * torch.from_numpy(filter.weights).to(y.device)
    real = torch.from_numpy(filter.is_real).to(y.device)
    pairs = weighted[..., ~real]
    coefficients = torch.cat([weighted[..., real].real, pairs.real, pairs.imag], dim=-1)
    return torch.cat([filter.constant * residual[..., None], coefficients], dim=-1) if filter.constant else coefficients


def by_pole(system: Eigensystem, poles: Complexes, left: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
    """(y, Z D Zᵀ y) for every pole, each (blocks, rows, columns, poles), complex.

    The poles may belong to many filters: the training times of a whole curve share one product.
    """
    blocks, rows, columns = residual.shape
    p = torch.from_numpy(poles).to(left.device)
    resolvent = 1 / (system.values[:, None] - p)
    halves = torch.cat([resolvent.real, resolvent.imag], dim=1)
    sign = 1 - 2 * system.identity
    drive = torch.einsum("rc,rq->rcq", system.left_moment, halves).flatten(1)
    fitted = (left @ drive).reshape(blocks, rows, columns, 2, len(poles))
    b = system.identity * residual[..., None] + sign * torch.complex(fitted[..., 0, :], fitted[..., 1, :])
    A = sign * quadratic(left, halves)
    if system.identity:
        A.diagonal(dim1=1, dim2=2).add_(system.identity)
    y = solve_small(A, b)
    return y, (y - b if system.identity else y + p * b)


def solve_minimum_norm(system: Eigensystem, left: Tensor, residual: Tensor) -> Solution:
    """Remove blocks from training run to the end without decay, the limit of the ridge for λ → 0.

    With H⁺ the pseudo-inverse and T = I − Z H⁺ Zᵀ (one minus the leverage), split the block's outputs by
    T = Q diag(τ) Qᵀ. Where τ > 0 the rest of the data still determines what the block did: y = Q τ⁻¹ Qᵀ (r − Zw).
    Where τ = 0 the block held a direction on its own, h = H⁺Zᵀq, and the solution nearest to w0 gives that direction
    up: y = q (hᵀh)⁻¹ hᵀ(w − …). Both move the weights by H⁺Zᵀ y.
    """
    kept = system.values > system.negligible
    inverse = torch.where(kept, 1 / system.values, 0.0)
    if left.shape[1] == 1:
        return _one_row(system, left, residual, inverse)
    right = system.right(left)
    scaled = right * inverse
    identity = torch.eye(left.shape[1], dtype=left.dtype, device=left.device)
    leverage = scaled @ right.transpose(1, 2)
    if system.identity:
        free = identity - leverage
    else:  # the eigenvectors are complete: what is left of the leverage is exact
        rest = left * ~kept
        free = rest @ rest.transpose(1, 2)
    weights = inverse[:, None] * system.moment
    tau, Q = torch.linalg.eigh(free)
    held = (tau < system.held_alone)[..., None]
    misfit = Q.transpose(1, 2) @ (residual - right @ weights)
    y = Q @ torch.where(held, 0.0, misfit / torch.where(held, 1.0, tau[..., None]))
    rows_h = torch.where(held, Q.transpose(1, 2), 0.0) @ scaled
    now = rows_h @ weights - rows_h @ (scaled.transpose(1, 2) @ y)
    gram = rows_h @ rows_h.transpose(1, 2)
    y = y + Q @ (torch.linalg.pinv(gram, hermitian=True) @ now)
    return Solution(y[..., None], inverse[None])


def _one_row(system: Eigensystem, left: Tensor, residual: Tensor, inverse: Tensor) -> Solution:
    """The same where each block is one row: τ is a number, and Q is 1."""
    right, weights = system.right(left)[:, 0], inverse[:, None] * system.moment
    if system.identity:
        tau = 1 - (right.square() @ inverse)[:, None]
    else:
        tau = (left[:, 0].square() @ (inverse == 0).to(left))[:, None]
    held = tau < system.held_alone
    y = torch.where(held, 0.0, (residual[:, 0] - right @ weights) / torch.where(held, 1.0, tau))
    alone = held[:, 0].nonzero()[:, 0]
    if len(alone):
        h = right[alone] * inverse
        length = torch.linalg.vecdot(h, h)[:, None]
        y[alone] = torch.where(length > 0, h @ weights / length, 0.0)
    return Solution(y[:, None, :, None], inverse[None])


def quadratic(left: Tensor, functions: Tensor) -> Tensor:
    """E diag(f) Eᵀ of every block for every function f, complex from its two halves: (blocks, rows, rows, poles)."""
    blocks, rows, _ = left.shape
    poles = functions.shape[1] // 2
    out = torch.empty(blocks, rows, rows, poles, dtype=torch.complex128, device=left.device)
    for i in range(rows):  # one row against those after it: half of the pairs, and no more memory than the rows take
        halves = (left[:, i, None] * left[:, i:]) @ functions
        out[:, i, i:] = out[:, i:, i] = torch.complex(halves[..., :poles], halves[..., poles:])
    return out


def solve_small(A: Tensor, b: Tensor) -> Tensor:
    """A⁻¹ b with the poles in the last dimension."""
    if A.shape[1] == 1:
        return b / A
    y: Tensor = torch.linalg.solve(A.permute(0, 3, 1, 2), b.permute(0, 3, 1, 2))
    return y.permute(0, 2, 3, 1)
