"""The dual form, from Θ = JJᵀ: for more columns than rows; the eigenvectors are complete, so nothing cancels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.progress import progress
from uniqueinfo.spectrum.eigensystem import EPS, Eigensystem, eigh
from uniqueinfo.spectrum.metric import Metric
from uniqueinfo.spectrum.rows import CHUNK_BYTES, Rows, slices
from uniqueinfo.types import Index

_TALLEST = 2  # rows of other samples are held, for each of the eigenvectors
_HELD = 2**30  # bytes of kernel values between other samples and the training samples that are held


@dataclass(frozen=True, eq=False)
class Dual(Eigensystem):
    """Eigenvectors of JJᵀ. Other samples are seen through their kernel values J_val Jᵀ, (m, per_sample, rows)."""

    values: Tensor
    basis: Tensor
    """V, complete: (rows, rows)."""
    vectors: Tensor
    """V of the samples that `left` and `fitted` are asked for, (samples, per_sample, rows)."""
    moment: Tensor
    dual_moment: Tensor
    """Vᵀr."""
    rows: Rows | None = None
    """J, where it is known and not the kernel alone."""

    identity = 0.0

    @classmethod
    def of(cls, residual: Tensor, rows: Rows | None = None, kernel: Tensor | None = None) -> Dual:
        """From rows, or from a kernel (rows, rows) alone, and residuals (n, per_sample, columns)."""
        if kernel is None:
            assert rows is not None
            kernel = products(rows, rows)
        values, basis = eigh(kernel)
        basis = basis.contiguous()  # as it is when read from a file: products of another layout round otherwise
        # A null direction comes out with a length of √ε, which long training would multiply: it has none.
        noise = 4 * len(values) ** 0.5 * EPS * float(values.max())
        values = torch.where(values > noise, values, 0.0)
        return cls.known(values, basis, residual, rows)

    @classmethod
    def known(cls, values: Tensor, basis: Tensor, residual: Tensor, rows: Rows | None) -> Dual:
        """From eigenvalues and eigenvectors that were computed before."""
        moment = basis.T @ residual.reshape(len(basis), -1)
        return cls(
            values=values,
            basis=basis,
            vectors=basis.reshape(len(residual), residual.shape[1], -1),
            moment=values.sqrt()[:, None] * moment,
            dual_moment=moment,
            rows=rows,
        )

    @property
    def left_moment(self) -> Tensor:
        """Vᵀr."""
        return self.dual_moment

    def toward(self, residual: Tensor) -> Self:
        """Vᵀr anew."""
        moment = self.basis.T @ residual.reshape(len(self.basis), -1)
        return replace(self, moment=self._roots[:, None] * moment, dual_moment=moment)

    def over(self, index: Index, rows: Rows | None) -> Self:
        """The eigenvectors' entries of these samples."""
        return replace(self, vectors=self.vectors[index])

    def left(self, index: Index) -> Tensor:
        """The rows of V."""
        return self.vectors[index]

    def right(self, left: Tensor) -> Tensor:
        """Z = VS."""
        return torch.mul(left, self._roots)

    def fitted(self, coordinates: Tensor) -> Tensor:
        """V S times the coordinates."""
        return self.vectors @ (self._roots[:, None] * coordinates)

    def seen(self, rows: Rows) -> Rows:
        """Kernel values J_val Jᵀ: held where they are not too many, else computed whenever they are asked for."""
        if self.rows is None:  # they are kernel values already
            return rows
        shape = (rows.samples, rows.per_sample, len(self.basis))
        if 8 * int(np.prod(shape)) <= _HELD:
            return Rows(products(rows, self.rows).reshape(shape), rows.device)
        return Rows(_KernelValues(rows, self.rows), rows.device)

    def rotate(self, seen: Tensor) -> Tensor:
        """J_val U = (J_val Jᵀ) V S⁻¹."""
        return torch.mul(seen @ self.basis, self._inverse_roots)

    def coefficients(self, coordinates: Tensor) -> Tensor:
        """V S⁻¹ times the coordinates: what kernel values are multiplied with."""
        return self.basis @ (self._inverse_roots[:, None] * coordinates)

    def metric(self, seen: Rows, misfit: Tensor) -> tuple[Metric, Tensor]:
        """Through the rows Z themselves where that is cheaper, and they can be held; else through ZᵀZ.

        With v vectors δ that is v·rows·rank operations against (rows + v)·rank².
        """
        rows, vectors = seen.samples * seen.per_sample, self.rank // self.vectors.shape[1] * misfit.shape[2]
        parts = list(seen.chunks(8 * seen.per_sample * max(seen.width, self.rank)))
        if rows * vectors < (rows + vectors) * self.rank and rows <= _TALLEST * self.rank:
            Z = torch.cat([self.rotate(seen[part]).flatten(0, 1) for part in parts])
            return Metric(Z / seen.samples**0.5, factor=True), Z.T @ misfit.flatten(0, 1) / seen.samples
        square = self.values.new_zeros(self.rank, self.rank)
        moment = self.values.new_zeros(self.rank, misfit.shape[2])
        for part in parts:
            flat = self.rotate(seen[part]).flatten(0, 1)
            square.addmm_(flat.T, flat)
            moment.addmm_(flat.T, misfit[part].flatten(0, 1))
        return Metric(square / seen.samples, factor=False), moment / seen.samples

    def weights(self, coordinates: Tensor) -> Tensor:
        """Jᵀ V S⁻¹ times the coordinates."""
        assert self.rows is not None, "a kernel alone has no weights"
        dual = self.coefficients(coordinates).reshape(self.rows.samples, -1, coordinates.shape[1])
        total = coordinates.new_zeros(self.rows.width, coordinates.shape[1])
        for part in self.rows.chunks():
            total.addmm_(self.rows[part].flatten(0, 1).T, dual[part].flatten(0, 1))
        return total

    @property
    def _roots(self) -> Tensor:
        return self.values.sqrt()

    @property
    def _inverse_roots(self) -> Tensor:
        """Jᵀ V = U S: a direction without length has no U."""
        return torch.where(self.values > 0, 1 / self._roots, 0.0)


@dataclass(frozen=True, eq=False)
class _KernelValues:
    """J_val Jᵀ, computed when it is asked for."""

    others: Rows
    rows: Rows

    @property
    def shape(self) -> tuple[int, ...]:
        return self.others.samples, self.others.per_sample, self.rows.samples * self.rows.per_sample

    def __getitem__(self, index: Index) -> Any:
        some = self.others[index]
        flat = some.flatten(0, 1)
        found = torch.cat([flat @ self.rows[part].flatten(0, 1).T for part in self.rows.chunks()], dim=1)
        return found.reshape(*some.shape[:2], -1)


def products(left: Rows, right: Rows, dtype: torch.dtype = torch.float64) -> Tensor:
    """J_left J_rightᵀ, block by block; one block of each while they fit, and one triangle where both are the same."""
    out = torch.empty(
        left.samples * left.per_sample,
        right.samples * right.per_sample,
        dtype=dtype,
        device=left.device,
    )
    block = 8 * CHUNK_BYTES
    tall = list(slices(left.samples, 8 * left.per_sample * left.width * CHUNK_BYTES // block))
    wide = (
        tall
        if right is left
        else list(slices(right.samples, 8 * right.per_sample * right.width * CHUNK_BYTES // block))
    )
    with progress("Products of the rows", left.samples) as advance:
        for part in tall:
            upper = left[part].flatten(0, 1).to(dtype)
            at = slice(part.start * left.per_sample, part.stop * left.per_sample)
            for other in wide:
                if right is left and other.start < part.start:
                    continue
                across = slice(other.start * right.per_sample, other.stop * right.per_sample)
                same = right is left and other == part
                torch.mm(upper, (upper if same else right[other].flatten(0, 1).to(dtype)).T, out=out[at, across])
                if right is left and not same:
                    out[across, at] = out[at, across].T
            advance(part.stop - part.start)
    return out
