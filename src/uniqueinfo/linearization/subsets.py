"""Training on parts of the data, all from the eigenproblem of the whole: no Jacobian is computed again.

Rows that stay keep their inner products, so a part's kernel is a block of the kernel of all (dual form), and its JᵀJ is
that of all minus the sum over the rows that left (primal form). Only the eigendecomposition is a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.linearization.linearization import Linearization, Probe
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.spectrum.eigensystem import Primal, eigh, gram
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.types import Indices

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Part(Origin):
    """Training on a part of the data: `probe` is what its information is about, `test` what it is judged on."""

    test: Probe | None = None


class Subsets:
    """Trains on any part of the data by the same algorithm, and looks at the same validation and test samples.

    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[1.0], [1.0], [1.0]]), np.array([[0.0], [2.0], [7.0]])
    >>> run = Linearization.from_features(X, y).train(Converged())
    >>> part = Subsets(Part(run, None)).of(np.array([0, 1]))
    >>> run.outputs()[0], part.run.outputs()[0]     # the mean of all, and of the first two
    (array([3.]), array([1.]))
    """

    def __init__(self, whole: Part) -> None:
        self._whole, self._linearization = whole, whole.run.linearization

    def of(self, kept: Indices) -> Part:
        """Training on these samples alone, in this order."""
        part = self._dual(kept) if self._is_dual else self._primal(kept)
        probe = self._seen(self._probe, part, kept)
        same = self._whole.test is self._whole.probe
        return Part(part.train(self._whole.run.training), probe, probe if same else self._seen(self._test, part, kept))

    def _dual(self, kept: Indices) -> Linearization:
        at = self._rows_of(kept)
        return Linearization(None, *self._targets(kept), "dual", self._kernel[at][:, at])

    def _primal(self, kept: Indices) -> Linearization:
        whole = self._linearization.rows
        assert whole is not None
        rows, (residual, initial) = _chosen(whole, kept), self._targets(kept)
        left = np.setdiff1d(np.arange(whole.samples), kept)
        if self._linearization.form == "sketch":
            side = self._linearization.choice.side
            fits = side < min(len(kept) * rows.per_sample, rows.width)
            return Linearization(rows, residual, initial, "auto", sketch=side if fits else None)
        if len(kept) * rows.per_sample <= rows.width or len(left) >= len(kept):
            return Linearization(rows, residual, initial, "auto")  # summing over the rows that stay is cheaper
        gone, gone_moment = gram(_chosen(whole, left), self._targets(left)[0])
        hessian, moment = self._sums
        return _Rest(rows, residual, initial, hessian - gone, moment - gone_moment, self._whole.run.system.largest)

    def _seen(self, probe: Probe | None, part: Linearization, kept: Indices) -> Probe | None:
        if probe is None:
            return None
        if not self._is_dual:
            return replace(probe, system=part.system)
        rows = Rows(probe.rows[:][..., self._rows_of(kept)], probe.rows.device)
        return replace(probe, system=part.system, rows=rows)

    @property
    def _is_dual(self) -> bool:
        return self._linearization.form == "dual"

    def _rows_of(self, kept: Indices) -> Tensor:
        per_sample = self._linearization.residual.shape[1]
        return self._index((kept[:, None] * per_sample + np.arange(per_sample)).ravel())

    def _targets(self, kept: Indices) -> tuple[Tensor, Tensor]:
        at = self._index(kept)
        return self._linearization.residual[at], self._linearization.initial[at]

    def _index(self, samples: Indices) -> Tensor:
        return torch.from_numpy(samples).to(self._linearization.residual.device)

    @cached_property
    def _probe(self) -> Probe | None:
        return self._across(self._whole.probe)

    @cached_property
    def _test(self) -> Probe | None:
        return self._across(self._whole.test)

    def _across(self, probe: Probe | None) -> Probe | None:
        """In the dual form J_val Jᵀ stands for the rows of a probe, (m, per_sample, rows)."""
        if probe is None or not self._is_dual:
            return probe
        rotated = [probe.system.rotate(probe.rows[part]) for part in probe.rows.chunks()]
        rows = torch.cat(rotated) @ self._points.T
        return replace(probe, rows=Rows(rows, rows.device))

    @cached_property
    def _points(self) -> Tensor:
        return self._whole.points().flatten(0, 1)

    @cached_property
    def _kernel(self) -> Tensor:
        """JJᵀ of all samples."""
        return self._points @ self._points.T

    @cached_property
    def _sums(self) -> tuple[Tensor, Tensor]:
        """JᵀJ and Jᵀr of all samples."""
        assert self._linearization.rows is not None
        return gram(self._linearization.rows, self._linearization.residual)


class _Rest(Linearization):
    """A part in the primal form, whose JᵀJ and Jᵀr are known already."""

    def __init__(
        self, rows: Rows, residual: Tensor, initial: Tensor, hessian: Tensor, moment: Tensor, largest: float
    ) -> None:
        super().__init__(rows, residual, initial, "primal")
        self._sums, self._noise = (hessian, moment), len(hessian) * _EPS * largest

    @cached_property
    def system(self) -> Primal:
        """The eigendecomposition of the difference."""
        assert self.rows is not None
        return _Decomposed(self.rows, *self._sums, self._noise)


class _Decomposed(Primal):
    """From JᵀJ itself; eigenvalues no larger than the rounding of the difference that made it are none."""

    def __init__(self, rows: Rows, hessian: Tensor, moment: Tensor, noise: float) -> None:
        self._rows = rows
        values, self._basis = eigh(hessian)
        self.values = torch.where(values > noise, values, 0.0)
        self.moment = self.left_moment = self._basis.T @ moment


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Some samples of a source of rows, read when asked for."""

    source: Any
    samples: Indices

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.samples), *self.source.shape[1:])

    def __getitem__(self, index: slice | Indices) -> Any:
        return self.source[self.samples[index]]


def _chosen(rows: Rows, samples: Indices) -> Rows:
    return Rows(_Chosen(rows.source, samples), rows.device)
