"""The steps from rows to scores, each in a precision of its own.

The same algebra as the library's (whose steps all run in float64), written so that one step at a time can be run in
float32 while the others stay in float64. In float64 throughout it must give the library's scores; the table says how
closely it does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo import GradientFlow
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats

F32, F64 = torch.float32, torch.float64


@dataclass(frozen=True)
class Precision:
    """The dtype of every step."""

    products: torch.dtype = F64
    """JᵀJ, or JJᵀ: products of one chunk of rows."""
    sums: torch.dtype = F64
    """The sum of the chunks."""
    eigenvalues: torch.dtype = F64
    rotation: torch.dtype = F64
    """Rows into the eigenbasis."""
    removal: torch.dtype = F64
    """Resolvents, the small solves, and δ of every sample."""
    measures: torch.dtype = F64
    """δᵀδ, δᵀFδ and Zδ."""

    @classmethod
    def single(cls, *steps: str) -> Precision:
        """These steps in float32."""
        return replace(cls(), **dict.fromkeys(steps, F32))

    @classmethod
    def steps(cls) -> list[str]:
        return [step.name for step in fields(cls)]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows J (n, k, D), or a kernel (nk, nk) with that of the validation samples; residuals (n, k, columns)."""

    name: str
    residual: Tensor
    rows: Tensor | None = None
    rows_val: Tensor | None = None
    kernel: Tensor | None = None
    kernel_val: Tensor | None = None
    validation: int = 0

    def take(self, kept: NDArray[np.intp]) -> Problem:
        """These samples alone (of a kernel)."""
        assert self.kernel is not None
        assert self.kernel_val is not None
        k = self.residual.shape[1]
        at = torch.from_numpy((kept[:, None] * k + np.arange(k)).ravel())
        return replace(
            self,
            residual=self.residual[torch.from_numpy(kept)],
            kernel=self.kernel[at][:, at],
            kernel_val=self.kernel_val[:, at],
        )


@dataclass
class Found:
    """Scores, and the processor seconds every step took."""

    functional: Floats
    weight: Floats
    outputs: Floats
    """How each sample's own outputs move, (n, outputs)."""
    seconds: dict[str, float] = field(default_factory=dict)


class Pipeline:
    """From rows or a kernel to scores."""

    def __init__(self, problem: Problem, training: GradientFlow, precision: Precision) -> None:
        self.problem, self.training, self.precision = problem, training, precision
        self.seconds: dict[str, float] = {}

    def run(self) -> Found:
        """All steps in order."""
        problem, n = self.problem, len(self.problem.residual)
        dual = problem.kernel is not None
        matrix, moment = self._sums()
        with self._step("eigenvalues") as dtype:
            values, basis = (part.to(F64) for part in torch.linalg.eigh(matrix.to(dtype)))
        if dual:  # a direction no longer than rounding is none
            noise = 4 * len(values) ** 0.5 * torch.finfo(self.precision.eigenvalues).eps * float(values.max())
            values = torch.where(values > noise, values, 0.0)
        values = values.clamp(min=0)
        left, right, validation = self._rotated(values, basis)
        left_moment = basis.T @ moment
        learnt = values.sqrt()[:, None] * left_moment if dual else left_moment
        full, rest = self.training.filter(n), self.training.filter(n - 1)
        phi = [torch.from_numpy(filter(values.numpy())) for filter in (full, rest)]
        shift = ((phi[0] - phi[1])[:, None] * learnt).T
        delta = self._changes(values, left, right, left_moment, shift, fit(rest, float(values.max())), dual)
        return self._measured(delta, right, validation)

    def _sums(self) -> tuple[Tensor, Tensor]:
        problem = self.problem
        flat = problem.residual.flatten(0, 1)
        if problem.kernel is not None:
            return problem.kernel, flat
        assert problem.rows is not None
        rows = problem.rows.flatten(0, 1)
        with self._step("products") as dtype:
            total = torch.zeros(rows.shape[1], rows.shape[1], dtype=self.precision.sums)
            for part in torch.split(rows, 2048):
                chunk = part.to(dtype)
                total += (chunk.T @ chunk).to(self.precision.sums)
        return total, rows.T @ flat

    def _rotated(self, values: Tensor, basis: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """E, Z and Z_val."""
        problem = self.problem
        n, k = problem.residual.shape[:2]
        with self._step("rotation") as dtype:
            if problem.kernel is not None:
                assert problem.kernel_val is not None
                left = basis.reshape(n, k, -1)
                inverse = torch.where(values > 0, values.rsqrt(), 0.0)
                validation = (problem.kernel_val.to(dtype) @ basis.to(dtype)).to(F64) * inverse
                return left, left * values.sqrt(), validation
            assert problem.rows is not None
            assert problem.rows_val is not None
            left = (problem.rows.to(dtype) @ basis.to(dtype)).to(F64)
            return left, left, (problem.rows_val.flatten(0, 1).to(dtype) @ basis.to(dtype)).to(F64)

    def _changes(
        self, values: Tensor, left: Tensor, right: Tensor, moment: Tensor, shift: Tensor, filter: Rational, dual: bool
    ) -> Tensor:
        """δ = Σ_poles c D Zᵀ A⁻¹ b, plus the constant's and the shift: (n, columns, rank)."""
        with self._step("removal") as dtype:
            complex_ = torch.complex64 if dtype is F32 else torch.complex128
            residual, E, Z = self.problem.residual.to(dtype), left.to(dtype), right.to(dtype)
            delta = filter.constant * torch.einsum("nkr,nkc->ncr", Z, residual) + shift.to(dtype)
            weights = np.where(filter.is_real, 1.0, 2.0) * filter.weights
            for pole, weight in zip(filter.poles, weights, strict=True):
                D = (1 / (values - complex(pole))).to(complex_)
                fitted = E.to(complex_) @ (D[:, None] * moment.to(complex_))
                A = (E * D) @ E.transpose(1, 2).to(complex_)
                b = fitted if dual else residual - fitted
                A = A if dual else torch.eye(E.shape[1], dtype=complex_) - A
                y = torch.linalg.solve(A, b.to(complex_))
                delta += (complex(weight) * (y.transpose(1, 2) @ Z.to(complex_)) * D).real
        return delta.to(F64)

    def _measured(self, delta: Tensor, right: Tensor, validation: Tensor) -> Found:
        with self._step("measures") as dtype:
            d, V, Z = delta.to(dtype), validation.to(dtype), right.to(dtype)
            weight = d.square().sum(dim=(1, 2)) / 2
            functional = (d @ V.T).square().sum(dim=(1, 2)) / (2 * self.problem.validation)
            outputs = (Z @ d.transpose(1, 2)).flatten(1)
        return Found(functional.double().numpy(), weight.double().numpy(), outputs.double().numpy(), self.seconds)

    @contextmanager
    def _step(self, name: str) -> Iterator[torch.dtype]:
        started = time.process_time()  # what others do on the machine does not count
        yield getattr(self.precision, name)
        self.seconds[name] = time.process_time() - started
