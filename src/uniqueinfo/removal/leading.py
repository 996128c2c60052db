"""What every sample leaves behind, by the leading directions of the kernel and one curvature for all others.

When samples leave in batches and the rest is scored anew after each, a whole eigendecomposition for every batch is what
takes the time. Here the leading eigenvectors follow from those before the batch, by one product with the kernel. With
rows J = [Z, T], Z along these and T along all others, the Hessian of the samples that are left is taken to be

    H ≈ ZᵀZ ⊕ μ I,        μ = tr(TTᵀTTᵀ) / tr(TTᵀ), never below the curvature of any sample's own T,

while rows stay whole. T is met in inner products alone, with itself and with validation samples, and these are what the
kernels leave beside Z: nothing of the size of T is ever formed. A removal is then that of `solve`, with a pole's
1/(μ − p) for T beside its diag(1/(s − p)) for Z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.removal.solve import quadratic, solve_small, spread
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.training import Filter, Training
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats, Indices


@dataclass(frozen=True, eq=False)
class Leading:
    """The samples that are left, seen along leading directions; made by `of`, and by `rest` from those before.

    >>> import torch
    >>> from uniqueinfo.training import Converged
    >>> J, r = torch.eye(3, dtype=torch.float64), torch.ones(3, 1, 1, dtype=torch.float64)
    >>> all_three = Leading.of(J, J, r, torch.eye(3, dtype=torch.float64))
    >>> all_three.information(Converged(1.0, reduction="sum")).round(6)    # ½ (r/2)²: nobody else knows their direction
    array([0.125, 0.125, 0.125])
    """

    kernel: Tensor
    """JJᵀ, (rows, rows). In single precision, like `seen`, it is twice as quick, and its error far below that of μ."""
    seen: Tensor
    """J (J_valᵀ J_val / m) Jᵀ, (rows, rows)."""
    residual: Tensor
    """(n, per_sample, columns)."""
    values: Tensor
    """Leading eigenvalues, (directions,)."""
    vectors: Tensor
    """Eigenvectors, (rows, directions)."""

    @classmethod
    def of(cls, kernel: Tensor, seen: Tensor, residual: Tensor, near: Tensor) -> Leading:
        """Of a kernel whose leading eigenvectors lie near the span of these, (rows, directions).

        One step of subspace iteration turns them towards it, and the best of what they span is taken.
        """
        basis = torch.linalg.qr(kernel @ near.to(kernel))[0]
        values, turned = eigh((basis.T @ (kernel @ basis)).double())
        return cls(kernel, seen, residual, values.clamp(min=0), basis.double() @ turned)

    def rest(self, kept: Indices) -> Leading:
        """Of some of the samples, by their positions among these."""
        per_sample = self.residual.shape[1]
        rows = torch.from_numpy((kept[:, None] * per_sample + np.arange(per_sample)).ravel()).to(self.kernel.device)
        left = self.residual[torch.from_numpy(kept).to(self.residual.device)]
        return Leading.of(self.kernel[rows][:, rows], self.seen[rows][:, rows], left, self.vectors[rows])

    def information(self, training: Training) -> Floats:
        """(1/2m) Σ_j ‖f(x_j) − f₋ᵢ(x_j)‖² of every sample, (n,), by a training in closed form that ends."""
        samples, rest = len(self.residual), max(len(self.residual) - 1, 1)
        training.check_stable(self._largest, rest)
        before, after = training.filter(samples), training.filter(rest)
        inside, outside = self._changes(_over_poles(training, rest, self._largest))
        inside = inside + (self._gained(before, after, self.values)[:, None] * self._moment).T
        everyone = float(self._gained(before, after, self._tail))  # times TᵀR of all, in every change alike
        along, pull = self._across, self._far_moment.reshape(outside.shape)
        found = ((inside @ self._metric) * inside).sum(dim=(1, 2))
        found += 2 * (outside * (along @ inside.transpose(1, 2))).sum(dim=(1, 2))
        found += (outside * (self._far @ outside)).sum(dim=(1, 2))
        reached = (along.flatten(0, 1).T @ self._flat).T
        found += 2 * everyone * ((inside * reached).sum(dim=(1, 2)) + (outside * pull).sum(dim=(1, 2)))
        found += everyone**2 * (self._flat * self._far_moment).sum()
        information: Floats = (found / 2).cpu().numpy()
        return information

    def _changes(self, rational: Rational) -> tuple[Tensor, Tensor]:
        """δ along Z (n, columns, directions), and what Tᵀ is multiplied with for the rest, (n, per_sample, columns)."""
        p = torch.from_numpy(rational.poles).to(self.kernel.device)
        inverse, others = 1 / (self.values[:, None] - p), 1 / (self._tail - p)
        halves = torch.cat([inverse.real, inverse.imag], dim=1)
        drive = torch.einsum("rc,rq->rcq", self._moment, halves).flatten(1)
        fitted = (self._rows @ drive).reshape(*self.residual.shape, 2, len(p))
        b = self.residual[..., None] - torch.complex(fitted[..., 0, :], fitted[..., 1, :])
        A = -quadratic(self._rows, halves) - self._own[..., None] * others
        A.diagonal(dim1=1, dim2=2).add_(1)
        y = solve_small(A, b - self._tail_moment[..., None] * others)
        coefficients = spread(rational, y, self.residual)
        inside = coefficients @ self._functions(rational, self.values).T
        return (inside * self._rows[:, :, None]).sum(dim=1), coefficients @ self._functions(rational, self._tail)[0]

    def _functions(self, rational: Rational, at: Tensor) -> Tensor:
        """The functions that a filter is made of, at some eigenvalues: (eigenvalues, functions)."""
        found = torch.from_numpy(rational.basis(np.atleast_1d(at.cpu().numpy()))).to(self.kernel.device)
        return found if rational.constant else found[:, 1:]

    def _gained(self, before: Filter, after: Filter, at: Tensor) -> Tensor:
        """φ − φ′ at some eigenvalues: the mean loss is over one sample less."""
        z = np.atleast_1d(at.cpu().numpy())
        return torch.from_numpy(before(z) - after(z)).to(self.kernel.device)

    @cached_property
    def _rows(self) -> Tensor:
        """Z, (n, per_sample, directions)."""
        return (self.vectors * self.values.sqrt()).reshape(*self.residual.shape[:2], -1)

    @cached_property
    def _flat(self) -> Tensor:
        return self.residual.flatten(0, 1)

    @cached_property
    def _moment(self) -> Tensor:
        """Zᵀr, (directions, columns)."""
        return self._rows.flatten(0, 1).T @ self._flat

    @cached_property
    def _tail_moment(self) -> Tensor:
        """TTᵀr, as the residual."""
        whole = _times(self.kernel, self._flat)
        return (whole - self._rows.flatten(0, 1) @ self._moment).reshape(self.residual.shape)

    @cached_property
    def _own(self) -> Tensor:
        """TTᵀ of each sample with itself, (n, per_sample, per_sample)."""
        return self._blocks(self.kernel) - self._rows @ self._rows.transpose(1, 2)

    @cached_property
    def _tail(self) -> Tensor:
        """μ, or 0 where nothing is left of T."""
        mass = self._own.diagonal(dim1=1, dim2=2).sum()
        squares = torch.linalg.vector_norm(self.kernel, dtype=torch.float64).square() - self.values.square().sum()
        if mass <= len(self.kernel) * torch.finfo(self.kernel.dtype).eps * self.values.max():
            return torch.zeros_like(mass)
        return torch.maximum((squares / mass).clamp(min=0), torch.linalg.eigvalsh(self._own).max())

    @cached_property
    def _largest(self) -> float:
        return max(float(self.values.max()), float(self._tail))

    @cached_property
    def _turned(self) -> Tensor:
        """J J_valᵀ Z_val / m, (rows, directions)."""
        return _times(self.seen, self.vectors * self._inverse)

    @cached_property
    def _inverse(self) -> Tensor:
        return torch.where(self.values > 0, 1 / self.values.sqrt(), 0.0)

    @cached_property
    def _metric(self) -> Tensor:
        """Z_valᵀ Z_val / m."""
        return (self.vectors * self._inverse).T @ self._turned

    @cached_property
    def _across(self) -> Tensor:
        """T T_valᵀ Z_val / m, (n, per_sample, directions)."""
        return self._turned.reshape(self._rows.shape) - self._rows @ self._metric

    @cached_property
    def _far(self) -> Tensor:
        """T T_valᵀ T_val Tᵀ / m of each sample with itself, (n, per_sample, per_sample)."""
        turned, rows = self._turned.reshape(self._rows.shape), self._rows
        cross = turned @ rows.transpose(1, 2)
        inner = (rows @ self._metric) @ rows.transpose(1, 2)
        return self._blocks(self.seen) - cross - cross.transpose(1, 2) + inner

    @cached_property
    def _far_moment(self) -> Tensor:
        """T T_valᵀ T_val Tᵀ r / m, (rows, columns)."""
        rows = self._rows.flatten(0, 1)
        found = _times(self.seen, self._flat) - self._turned @ self._moment
        return found - rows @ (self._turned.T @ self._flat) + rows @ (self._metric @ self._moment)

    def _blocks(self, matrix: Tensor) -> Tensor:
        """Of a matrix (rows, rows) what each sample has with itself, (n, per_sample, per_sample)."""
        samples, per_sample = self.residual.shape[:2]
        parts = matrix.reshape(samples, per_sample, samples, per_sample)
        return parts.diagonal(dim1=0, dim2=2).permute(2, 0, 1).double()


def _times(matrix: Tensor, vectors: Tensor) -> Tensor:
    """A product in the matrix's own precision, to go on with in double."""
    return (matrix @ vectors.to(matrix)).double()


def _over_poles(training: Training, samples: int, largest: float) -> Rational:
    """The filter of training on so many samples, over poles.

    Of a mean loss it is that of one sample on a kernel divided by their number, whose largest eigenvalue hardly changes
    while samples leave: one fit serves many rests.
    """
    unit = samples if training.reduction == "mean" else 1
    reach = largest / unit
    wide = 2.0 ** (math.ceil(2 * math.log2(reach)) / 2) if reach > 0 else 0.0
    stable = training.rate < training.largest_stable_rate(wide * unit, samples)
    found = _fit(training.filter(1 if unit > 1 else samples), wide if stable else reach)
    return found.stretched(unit) if unit > 1 else found


_fit = lru_cache(maxsize=16)(fit)
