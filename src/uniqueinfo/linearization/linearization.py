"""A linearized network with its data: train it by any algorithm, look at it on other samples, leave samples out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.information.measures import Target
from uniqueinfo.progress import showing
from uniqueinfo.removal.changes import Metric
from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.removal import Removal
from uniqueinfo.spectrum.border import as_matrix, as_rows
from uniqueinfo.spectrum.choice import Form, choose
from uniqueinfo.spectrum.eigensystem import Dual, Eigensystem, Primal
from uniqueinfo.spectrum.rows import Rows, slices
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training import Filter, Training
from uniqueinfo.types import Floats

Device = torch.device | str | None


@dataclass(frozen=True, eq=False)
class Probe:
    """Samples to look at the trained function on: validation data, or anything else with rows of the same kind."""

    system: Eigensystem
    rows: Rows
    initial: Tensor
    """Outputs before training, (m, per_sample, columns)."""
    targets: Tensor | None = None
    """Wanted outputs, of the same shape."""

    @property
    def samples(self) -> int:
        """How many there are."""
        return self.rows.samples

    def outputs(self, coordinates: Tensor) -> Tensor:
        """Outputs with these weights, (m, per_sample, columns): the samples are not rotated."""
        weights = self.system.multiplier(coordinates)
        return torch.cat([self.initial[part] + self.rows[part] @ weights for part in self.rows.chunks()])

    def moved(self, delta: Tensor) -> Floats:
        """Z_val δ: how every output moves with each change (removals, columns, rank) → (removals, m, outputs)."""
        found = [torch.einsum("mpr,bcr->bmpc", self._rotated(part), delta).flatten(2) for part in self._parts()]
        moved: Floats = torch.cat(found, dim=1).cpu().numpy()
        return moved

    def target(self, run: Trained) -> Target:
        """The Fisher matrix and, where targets are known, the gradient of the mean validation loss after the run.

        The outputs being f₀ + Z_val c, that gradient is Fc + Z_valᵀ(f₀ − y)/m: the samples are gone through once for
        all runs.
        """
        fisher, pull = self._sums
        return Target(fisher, None if self.targets is None else fisher.apply(run.coordinates.T) + pull.T)

    @property
    def fisher(self) -> Metric:
        """F = J_valᵀJ_val / m, through the rows themselves where these are few."""
        return self._sums[0]

    @cached_property
    def _sums(self) -> tuple[Metric, Tensor]:
        """F, and Z_valᵀ(f₀ − y)/m (rank, columns); y = f₀ where targets are not known."""
        misfit = torch.zeros_like(self.initial) if self.targets is None else self.initial - self.targets
        if self.system.few(self.samples * self.rows.per_sample, self.initial.shape[2]):
            rows = self.system.rotate_all(self.rows)
            return Metric(rows / self.samples**0.5, factor=True), rows.T @ misfit.flatten(0, 1) / self.samples
        square, moment = self.system.sums(self.rows, misfit)
        return Metric(square / self.samples, factor=False), moment / self.samples

    def _parts(self) -> Iterable[slice]:
        return slices(self.samples, 8 * self.rows.per_sample * max(self.rows.width, self.system.rank))

    def _rotated(self, part: slice) -> Tensor:
        return self.system.rotate(self.rows[part])


class Linearization:
    """f(x) = f0(x) + J(x)(w − w0): Jacobian rows, initial outputs and targets of the training samples.

    Made by `from_jacobian`, `from_features` or `from_kernel`; the eigendecomposition is computed once, when first
    needed, and shared by every training.
    """

    shows_progress = True

    def __init__(
        self,
        rows: Rows | None,
        residual: Tensor,
        initial: Tensor,
        form: Form,
        kernel: Tensor | None = None,
        sketch: int | None = None,
    ) -> None:
        self.rows, self.residual, self.initial = rows, residual, initial
        self._kernel, self._asked, self._sketch = kernel, form, sketch
        count = residual.shape[0] * residual.shape[1]
        self.choice = choose(count, None if rows is None else rows.width, form, sketch)
        self.form = self.choice.form

    @classmethod
    def from_jacobian(
        cls,
        J: Any,
        residual: Any,
        initial: Any = None,
        *,
        form: Form = "auto",
        sketch: int | None = None,
        device: Device = None,
    ) -> Linearization:
        """Rows (n, k, D), targets − initial outputs (n, k), initial outputs (n, k; zero when not given).

        `sketch`: keep only this many directions exactly, where both nk and D are too many to decompose.

        >>> from uniqueinfo.training import Converged
        >>> J, r = np.ones((2, 1, 3)), np.array([[1.0], [3.0]])
        >>> Linearization.from_jacobian(J, r).train(Converged()).outputs()
        array([[2.],
               [2.]])
        """
        rows = as_rows("J", J, ("samples", "outputs", "parameters"), device)
        wanted = as_matrix("residual", residual, rows, rows.per_sample)
        start = _or_zero("initial", initial, rows, rows.per_sample)
        return cls(rows, wanted[..., None], start[..., None], form, sketch=sketch)

    @classmethod
    def from_features(
        cls,
        X: Any,
        targets: Any,
        initial: Any = None,
        *,
        form: Form = "auto",
        sketch: int | None = None,
        device: Device = None,
    ) -> Linearization:
        """A linear head on features (n, p) with targets (n, k): J = X ⊗ I, so one row per sample serves all outputs."""
        rows = as_rows("X", X, ("samples", "features"), device)
        wanted = as_matrix("targets", targets, rows)
        start = _or_zero("initial", initial, rows, wanted.shape[1])
        return cls(rows, (wanted - start)[:, None], start[:, None], form, sketch=sketch)

    @classmethod
    def from_kernel(cls, kernel: Any, residual: Any, initial: Any = None, *, device: Device = None) -> Linearization:
        """The kernel JJᵀ alone, (nk, nk), the rows of one sample next to each other, and residuals (n, k).

        There are no weights then, only their sizes.
        """
        rows = as_rows("kernel", kernel, ("rows", "rows"), device)
        matrix = rows[:].flatten(0, 1)
        samples = len(residual)
        if matrix.shape[0] != matrix.shape[1] or len(matrix) % samples:
            raise InputError(f"kernel: expected (nk, nk) for n = {samples} samples, got {tuple(matrix.shape)}")
        blocks = Rows(np.empty((samples, len(matrix) // samples, 0)), rows.device)
        wanted = as_matrix("residual", residual, blocks, blocks.per_sample)
        start = _or_zero("initial", initial, blocks, blocks.per_sample)
        return cls(None, wanted[..., None], start[..., None], "dual", matrix)

    @property
    def samples(self) -> int:
        """How many training samples there are."""
        return self.residual.shape[0]

    @property
    def outputs(self) -> int:
        """How many outputs the network has."""
        return self.residual.shape[1] * self.residual.shape[2]

    @property
    def is_head(self) -> bool:
        """Whether this is a linear head, whose outputs share their features."""
        return self.rows is not None and len(self.rows.source.shape) == 2

    @property
    def width(self) -> int | None:
        """How many parameters (or features) a row has; None where only the kernel is known."""
        return None if self.rows is None else self.rows.width

    @cached_property
    def system(self) -> Eigensystem:
        """The eigendecomposition."""
        with showing(self.shows_progress):
            if self.form == "dual":
                return Dual(self.rows, self.residual, self._kernel)
            assert self.rows is not None
            if self.form == "sketch":
                return Sketched(self.rows, self.residual, self.choice.side)
            return Primal(self.rows, self.residual)

    def toward(self, targets: Any, initial: Any = None) -> Linearization:
        """The same rows trained toward other targets (n, k), and from other initial outputs where they are given.

        Rows and eigendecomposition are shared, so that many labellings cost little more than one; so are probes.

        >>> from uniqueinfo.training import Converged
        >>> one = Linearization.from_features(np.eye(2), np.array([[1.0], [2.0]]))
        >>> one.toward(np.array([[3.0], [4.0]])).train(Converged()).outputs()
        array([[3.],
               [4.]])
        """
        blocks = Rows(np.empty((self.samples, self.residual.shape[1], 0)), self.residual.device)
        start, wanted = self.initial, as_matrix("targets", targets, blocks, self.outputs).reshape(self.residual.shape)
        if initial is not None:
            start = as_matrix("initial", initial, blocks, self.outputs).reshape(start.shape)
        found = Linearization(self.rows, wanted - start, start, self._asked, self._kernel, self._sketch)
        found.system = self.system.toward(found.residual)
        return found

    def train(self, training: Training) -> Trained:
        """Train by this algorithm; refuses a learning rate at which descent diverges."""
        training.check_stable(self.system.largest, self.samples)
        self.system.check_reached(training.filter(self.samples))
        return Trained(self, training)

    def probe(self, rows: Any, targets: Any = None, initial: Any = None) -> Probe:
        """Look at other samples: rows like those trained on, and, if known, targets and initial outputs (m, k).

        For `from_jacobian` the rows are (m, k, D), and the targets are residuals where no initial outputs are given;
        for `from_features` they are features (m, p); for `from_kernel` kernel values between these samples' rows and
        the training rows, (m, k, nk).
        """
        dims = ("samples", "features") if self.is_head else ("samples", "outputs", "parameters")
        device = self.residual.device
        found = as_rows("validation rows", rows, dims, device)
        wanted = (self.residual.shape[1], self.width or self.residual.shape[0] * self.residual.shape[1])
        if (found.per_sample, found.width) != wanted:
            raise InputError(
                f"validation rows: expected {wanted[0]} × {wanted[1]} per sample, as in training, "
                f"got {found.per_sample} × {found.width}"
            )
        shape = (found.samples, *self.residual.shape[1:])
        start = _or_zero("validation initial outputs", initial, found, self.outputs).reshape(shape)
        if targets is None:
            return Probe(self.system, found, start)
        return Probe(
            self.system,
            found,
            start,
            as_matrix("validation targets", targets, found, self.outputs).reshape(shape),
        )


class Trained:
    """A linearization after training by one algorithm."""

    def __init__(self, linearization: Linearization, training: Training) -> None:
        self.linearization, self.training = linearization, training
        self.system = linearization.system
        self.residual, self.samples = linearization.residual, linearization.samples
        self.coordinates = self.coordinates_under(training.filter(self.samples))

    def coordinates_under(self, filter: Filter) -> Tensor:
        """Uᵀ(w − w0) = φ(s) ∘ Zᵀr under a filter, (rank, columns)."""
        return self.system.apply(filter)[:, None] * self.system.moment

    def outputs(self, probe: Probe | None = None) -> Floats:
        """Outputs after training: of the training samples (n, k), or of a probe's (m, k)."""
        found = (
            self.linearization.initial + self.system.fitted(self.coordinates)
            if probe is None
            else probe.outputs(self.coordinates)
        )
        outputs: Floats = found.flatten(1).cpu().numpy()
        return outputs

    def weights(self) -> Floats:
        """w − w0: (D,), or (p, k) for a linear head."""
        found: Floats = self.system.weights(self.coordinates).cpu().numpy()
        return found if self.linearization.is_head else found[:, 0]

    def leave_out(self, groups: Iterable[Iterable[int]] | None = None) -> Removal:
        """Every sample on its own, or groups of any, mixed, sizes (which may overlap)."""
        return Removal(self, Groups.each(self.samples) if groups is None else Groups.of(groups, self.samples))


def _or_zero(name: str, initial: Any, rows: Rows, outputs: int) -> Tensor:
    if initial is None:
        return torch.zeros((), dtype=torch.float64, device=rows.device).expand(rows.samples, outputs)
    return as_matrix(name, initial, rows, outputs)
