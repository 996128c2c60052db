"""A linearized network with its data: train it by any algorithm, look at it on other samples, leave samples out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.linearization.removal import Removal
from uniqueinfo.progress import showing
from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.learning import Learnt
from uniqueinfo.removal.trained import TrainedSystem, trainable
from uniqueinfo.samples.border import WHOLE
from uniqueinfo.samples.checks import as_matrix
from uniqueinfo.samples.frames import FrameColumns
from uniqueinfo.spectrum.choice import Choice, Form, choose
from uniqueinfo.spectrum.dual import Dual
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows, RowSource, WithConstant
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.training import Training, as_training
from uniqueinfo.types import Floats

Device = torch.device | str | None


@dataclass(frozen=True, eq=False)
class Linearization:
    """f(x) = f0(x) + J(x)(w − w0): Jacobian rows, initial outputs and targets of the training samples.

    Made by `from_jacobian`, `from_features` or `from_kernel`; the eigendecomposition is computed once, when first
    needed, and shared by every training.
    """

    rows: Rows | None
    """None where only the kernel is known."""
    residual: Tensor
    """Targets − initial outputs, (n, per_sample, columns)."""
    initial: Tensor
    """Outputs before training, of the same shape."""
    choice: Choice
    """The form the problem is solved in, and why."""
    kernel: Tensor | None = None
    """JJᵀ, where it is known and the rows are not."""
    known: Eigensystem | None = None
    """The eigendecomposition, where it was computed before."""
    intercept: float = 0.0
    """What stands in one more column of the features of a linear head; 0 where it has no intercept."""
    start: Tensor | None = None
    """Outputs of a linear head before training, the same for every sample, (outputs,); zero where not given."""
    table: FrameColumns | None = None
    """The columns of the features by their names, where they have any."""
    wanted: Tensor | None = None
    """Targets as they were given; None where only their difference from the initial outputs was."""
    along: Tensor | None = None
    """Outputs at the checkpoints of a training that happened, (points, n, per_sample, columns)."""
    learn: Callable[[], Learnt] | None = None
    """What was learnt, where the training is followed step by step and nothing is decomposed."""
    progress: bool = True
    """Whether long steps show how far they are."""

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

        `J`, `residual`, `initial`: these arrays.
        `form`: "dual" or "primal" where the choice is not to be made by the sizes. `sketch`: keep only this many
        directions exactly, where both nk and D are too many to decompose. `device`: where the algebra runs.

        >>> import numpy as np
        >>> from uniqueinfo.training import Converged
        >>> J, r = np.ones((2, 1, 3)), np.array([[1.0], [3.0]])
        >>> Linearization.from_jacobian(J, r).train(Converged()).outputs()
        array([[2.],
               [2.]])
        """
        rows = Rows.given("J", J, ("samples", "outputs", "parameters"), device)
        wanted = as_matrix("residual", residual, rows.samples, rows.per_sample, rows.device)
        start = _or_zero("initial", initial, rows, rows.per_sample)
        return cls(rows, wanted[..., None], start[..., None], _chosen(rows, form, sketch))

    @classmethod
    def from_features(
        cls,
        X: Any,
        targets: Any,
        initial: Any = None,
        *,
        intercept: float = 0.0,
        form: Form = "auto",
        sketch: int | None = None,
        device: Device = None,
    ) -> Linearization:
        """A linear head on features (n, p) with targets (n, k): J = X ⊗ I, so one row per sample serves all outputs.

        `X`, `targets`: these arrays. `initial`: outputs before training, zero when not given. `intercept` adds a column
        of this value to the features, here and wherever other samples are looked at. `form`, `sketch`, `device`: as of
        `from_jacobian`.
        """
        rows = Rows.given("X", X, ("samples", "features"), device)
        rows = Rows(WithConstant(rows.source, intercept), rows.device) if intercept else rows
        wanted = as_matrix("targets", targets, rows.samples, None, rows.device)
        start = _or_zero("initial", initial, rows, wanted.shape[1])
        choice = _chosen(rows, form, sketch)
        return cls(rows, (wanted - start)[:, None], start[:, None], choice, intercept=intercept, wanted=wanted[:, None])

    @classmethod
    def from_kernel(cls, kernel: Any, residual: Any, initial: Any = None, *, device: Device = None) -> Linearization:
        """The kernel JJᵀ alone, (nk, nk), the rows of one sample next to each other, and residuals (n, k).

        There are no weights then, only their sizes. `kernel`, `residual`, `initial`: these arrays. `device`: where the
        algebra runs.
        """
        given = Rows.given("kernel", kernel, ("rows", "rows"), device)
        matrix, samples = given[:].flatten(0, 1), len(residual)
        if matrix.shape[0] != matrix.shape[1] or len(matrix) % samples:
            raise InputError(f"kernel: expected (nk, nk) for n = {samples} samples, got {tuple(matrix.shape)}")
        outputs = len(matrix) // samples
        wanted = as_matrix("residual", residual, samples, outputs, given.device)
        start = torch.zeros_like(wanted)
        if initial is not None:
            start = as_matrix("initial", initial, samples, outputs, given.device)
        return cls(None, wanted[..., None], start[..., None], choose(len(matrix), None), matrix)

    @property
    def targets(self) -> Tensor:
        """What is trained towards: as given, for a sum that is rounded is no class any more."""
        return self.initial + self.residual if self.wanted is None else self.wanted

    @property
    def form(self) -> str:
        """dual, primal or sketch."""
        return self.choice.form

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
        if self.known is not None:
            return self.known
        with showing(self.progress):
            if self.choice.form == "dual":
                return Dual.of(self.residual, self.rows, self.kernel)
            assert self.rows is not None
            if self.choice.form == "sketch":
                return Sketched.of(self.rows, self.residual, self.choice.side)
            return Primal.from_sums(Sums.over(self.rows, self.residual), self.rows)

    def toward(self, targets: Any, initial: Any = None) -> Linearization:
        """The same rows trained toward other targets (n, k), and from other initial outputs where they are given.

        Rows and eigendecomposition are shared, so that many labellings cost little more than one; so are probes.

        >>> import numpy as np
        >>> from uniqueinfo.training import Converged
        >>> one = Linearization.from_features(np.eye(2), np.array([[1.0], [2.0]]))
        >>> one.toward(np.array([[3.0], [4.0]])).train(Converged()).outputs()
        array([[3.],
               [4.]])
        """
        device, shape = self.residual.device, self.residual.shape
        wanted = as_matrix("targets", targets, self.samples, self.outputs, device).reshape(shape)
        start = self.initial
        if initial is not None:
            start = as_matrix("initial", initial, self.samples, self.outputs, device).reshape(shape)
        system = self.system.toward(wanted - start)
        return Linearization(
            self.rows,
            wanted - start,
            start,
            choice=self.choice,
            kernel=self.kernel,
            known=system,
            intercept=self.intercept,
            start=self.start,
            table=self.table,
            wanted=wanted,
            progress=self.progress,
        )

    def features(self, directions: int, probe: Probe | None = None) -> Floats:
        """What tells the samples apart in the directions of the largest eigenvalues: rows of Z = JU, (samples, d).

        A linear head on these is this linearization, but for the other directions: for what takes more time the more
        directions there are, such as losses other than squared error with many samples and classes. Outputs must share
        their rows, as those of a linear head do, and those of a network under `OutputAverage`. `directions`: how many,
        in falling order. `probe`: of these samples in place of the training samples.

        >>> import numpy as np
        >>> one = Linearization.from_features(np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros((2, 1)))
        >>> abs(one.features(1))
        array([[3.],
               [0.]])
        """
        system = self.system
        if self.residual.shape[1] > 1:
            raise InputError("features: outputs have rows of their own here; linearize with outputs=OutputAverage(…)")
        if not WHOLE.fits(directions) or not 1 <= directions <= system.rank:
            raise InputError(
                f"directions: expected how many to keep, 1 to {system.rank:,}, the number of all, got {directions!r}"
            )
        leading = torch.argsort(system.values, descending=True)[:directions]
        if probe is None:
            found = system.right(system.left(slice(0, self.samples)))
        else:
            found = torch.cat([system.rotate(probe.seen[part]) for part in probe.seen.chunks()])
        features: Floats = found[:, 0, leading].cpu().numpy()
        return features

    def train(self, training: Training) -> Trained:
        """By this `training`, a training algorithm; refuses a learning rate at which descent diverges."""
        training = trainable(self.system, as_training(training), self.samples)
        training.criterion.check(self.targets.flatten(1))
        return Trained.of(self, training)

    def probe(self, rows: Any, targets: Any = None, initial: Any = None) -> Probe:
        """Look at other samples: `rows` like those trained on, and, if known, `targets` and `initial` outputs (m, k).

        For `from_jacobian` the rows are (m, k, D), and the targets are residuals where no initial outputs are given;
        for `from_features` they are features (m, p), or a table where training was on one; for `from_kernel` kernel
        values between these samples' rows and the training rows, (m, k, nk).
        """
        dims = ("samples", "features") if self.is_head else ("samples", "outputs", "parameters")
        if isinstance(rows, pd.DataFrame):
            rows = self._numbers(rows)
        found = Rows.given("validation rows", rows, dims, self.residual.device)
        source: RowSource = WithConstant(found.source, self.intercept) if self.intercept else found.source
        found = Rows(source, found.device)
        wanted = (self.residual.shape[1], self.width or self.residual.shape[0] * self.residual.shape[1])
        if (found.per_sample, found.width) != wanted:
            ones = int(self.intercept != 0)
            raise InputError(
                f"validation rows: expected {wanted[0]} × {wanted[1] - ones} per sample, as in training, "
                f"got {found.per_sample} × {found.width - ones}"
            )
        shape = (found.samples, *self.residual.shape[1:])
        start = _or_zero("validation initial outputs", initial, found, self.outputs).reshape(shape)
        if initial is None and self.start is not None:
            start = self.start.expand(found.samples, -1).reshape(shape)
        if targets is None:
            return Probe(self.system, found, start)
        aims = as_matrix("validation targets", targets, found.samples, self.outputs, found.device)
        return Probe(self.system, found, start, aims.reshape(shape))

    def _numbers(self, rows: pd.DataFrame) -> Floats:
        """A table, by the names of its columns."""
        if self.table is None:
            raise InputError(
                "validation rows: are a table, and training knows no names of columns; hand over rows.to_numpy() with "
                "the columns in the order of training"
            )
        return self.table("validation rows", rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trained(TrainedSystem):
    """A linearization after training by one algorithm; made by `Linearization.train`."""

    linearization: Linearization

    @classmethod
    def of(
        cls, linearization: Linearization, training: Training, system: Eigensystem | None = None, **known: Any
    ) -> Trained:
        """By a training that was found to be stable; `system`: the linearization's, where it lies at hand."""
        if linearization.learn is not None and known.get("known") is None:
            known["known"] = linearization.learn()
        return cls(
            system=linearization.system if system is None else system,
            residual=linearization.residual,
            initial=linearization.initial,
            wanted=linearization.wanted,
            samples=linearization.samples,
            training=training,
            along=linearization.along,
            linearization=linearization,
            **known,
        )

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
        """w − w0: (D,), or (p, k) where outputs share their rows, as those of a linear head do."""
        found: Floats = self.system.weights(self.coordinates).cpu().numpy()
        return found if self.linearization.is_head or found.shape[1] > 1 else found[:, 0]

    def probe(self, rows: Any) -> Probe:
        """Other samples, as the linearization's `probe` takes them."""
        return self.linearization.probe(rows)

    def leave_out(self, groups: Iterable[Iterable[int]] | None = None) -> Removal:
        """Every sample on its own, or `groups` of any, mixed, sizes (which may overlap)."""
        left = Groups.each(self.samples) if groups is None else Groups.of(groups, self.samples)
        return Removal(self, left, self.linearization.initial)


def _chosen(rows: Rows, form: Form, sketch: int | None) -> Choice:
    return choose(rows.samples * rows.per_sample, rows.width, form, sketch)


def _or_zero(name: str, initial: Any, rows: Rows, outputs: int) -> Tensor:
    if initial is None:
        return torch.zeros((), dtype=torch.float64, device=rows.device).expand(rows.samples, outputs)
    return as_matrix(name, initial, rows.samples, outputs, rows.device)
