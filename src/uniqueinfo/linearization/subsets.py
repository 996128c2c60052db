"""Training on parts of the data, all from the eigenproblem of the whole: no Jacobian is computed again.

Rows that stay keep their inner products, so a part's kernel is a block of the kernel of all (dual form), and its JᵀJ is
that of all minus the sum over the rows that left (primal form). Only the eigendecomposition is a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.spectrum.choice import choose
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.training import Recorded
from uniqueinfo.types import Indices


@dataclass(frozen=True, eq=False)
class Subset(Origin):
    """Training on a part of the data: `probe` is what its information is about, `test` what it is judged on."""

    test: Probe | None = None


class Subsets:
    """Trains on any part of the data by the same algorithm, and looks at the same validation and test samples.

    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[1.0], [1.0], [1.0]]), np.array([[0.0], [2.0], [7.0]])
    >>> run = Linearization.from_features(X, y).train(Converged())
    >>> part = Subsets(Subset(run, None)).of(np.array([0, 1]))
    >>> run.outputs()[0], part.run.outputs()[0]     # the mean of all, and of the first two
    (array([3.]), array([1.]))
    """

    def __init__(self, whole: Subset) -> None:
        self._whole, self._linearization = whole, whole.run.linearization

    def of(self, kept: Indices) -> Subset:
        """Training on these samples alone, in this order."""
        if isinstance(self._whole.run.training, Recorded):
            raise InputError(
                "training: a recording is of all its samples, and this trains on some alone; score with a training "
                "algorithm, such as training='auto'"
            )
        part = self._dual(kept) if self._is_dual else self._primal(kept)
        probe = self._seen(self._whole.probe, part, kept)
        same = self._whole.test is self._whole.probe
        test = probe if same else self._seen(self._whole.test, part, kept)
        return Subset(part.train(self._whole.run.training), probe, test)

    def _dual(self, kept: Indices) -> Linearization:
        at = self._rows_of(kept)
        return Linearization(None, *self._targets(kept), choose(len(at), None), self._kernel[at][:, at])

    def _primal(self, kept: Indices) -> Linearization:
        whole = self._linearization.rows
        assert whole is not None
        rows, (residual, initial) = whole.take(kept), self._targets(kept)
        count = len(kept) * rows.per_sample
        if self._linearization.form == "sketch":
            side = self._linearization.choice.side
            choice = choose(count, rows.width, sketch=side if side < min(count, rows.width) else None)
            return Linearization(rows, residual, initial, choice)
        left = np.setdiff1d(np.arange(whole.samples), kept)
        if count <= rows.width or len(left) >= len(kept):  # summing over the rows that stay is cheaper
            return Linearization(rows, residual, initial, choose(count, rows.width))
        sums = self._sums - Sums.over(whole.take(left), self._targets(left)[0])
        system = Primal.from_sums(sums, rows, before=self._whole.run.system.largest)
        return Linearization(rows, residual, initial, choose(count, rows.width, "primal"), known=system)

    def _seen(self, probe: Probe | None, part: Linearization, kept: Indices) -> Probe | None:
        """In the dual form J_val Jᵀ stands for the rows of a probe, (m, per_sample, rows)."""
        if probe is None:
            return None
        if not self._is_dual:
            return replace(probe, system=part.system, known=None)
        rows = Rows(probe.seen[:][..., self._rows_of(kept)], probe.seen.device)
        return Probe(part.system, rows, probe.initial, probe.targets)

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
    def _kernel(self) -> Tensor:
        """JJᵀ of all samples."""
        points = self._whole.points().flatten(0, 1)
        return points @ points.T

    @cached_property
    def _sums(self) -> Sums:
        """JᵀJ and Jᵀr of all samples."""
        assert self._linearization.rows is not None
        return Sums.over(self._linearization.rows, self._linearization.residual)
