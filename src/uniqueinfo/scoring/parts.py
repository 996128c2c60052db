"""The scores of one partition, leaving each of its samples out of all."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.information.effects import Effects
from uniqueinfo.information.judged import Judged
from uniqueinfo.information.measures import Measures, Precision, Wanted, measure
from uniqueinfo.information.uncertainty import Uncertainty
from uniqueinfo.linearization.source import Chunk
from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.learning import Learnt
from uniqueinfo.removal.leaving import Removals
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.scores.table import HeldScores
from uniqueinfo.scoring.learning import Looked, everyone_of
from uniqueinfo.scoring.pieces import Piece, Sources
from uniqueinfo.spectrum.eigensystem import Eigensystem, FromRows
from uniqueinfo.spectrum.probe import Probe, Target
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training import Training
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Solver:
    """What the scores of any partition need beside its samples: every worker is sent it once."""

    system: Eigensystem
    """Without rows: those of the partition are put in."""
    samples: int
    training: Training
    target: Target | None
    precision: Precision | None
    uncertainty: Uncertainty | None
    factor: float
    effects: int
    probe: Probe | None = None
    """The validation samples, for forms that are worked on in this process; else their source is read."""
    learnt: Learnt | None = None
    """By another loss than squared error."""
    partition: int = 1
    """Samples read at a time where a removal goes through all of them."""
    called: NDArray[Any] | None = None
    """The ids of all validation samples, where effects are to name them."""
    written: bool = False
    """Whether a partition comes back as a file."""

    def __sizeof__(self) -> int:  # what a cluster counts against its memory
        held = [self.system.values, getattr(self.system, "basis", None)]
        held += [] if self.target is None else [self.target.fisher.matrix]
        return sum(tensor.nbytes for tensor in held if isinstance(tensor, Tensor))

    def scores(self, sources: Sources, piece: NamedPiece) -> HeldScores:
        """The measures of each sample of a piece, and what the user says of it."""
        chunk = sources.train.read(piece.index, rows=isinstance(self.system, FromRows))
        rows = None if chunk.rows is None else Rows(chunk.rows, chunk.rows.device)
        system = self.system.over(piece.index, rows)
        others = everyone_of(sources, Looked.by(self.system), self.partition)
        run = run_of(system, chunk, self.samples, self.training, known=self.learnt, others=others, first=piece.first)
        removals = Removals(run, Groups.each(len(piece)), of=self.samples)
        probe = self._felt(sources, system, chunk)
        judged = None
        if self.learnt is not None and probe is not None:
            judged = Judged.after(probe, run.coordinates, self.learnt.loss)
        wanted = Wanted(self.target, self.precision, probe, effects=self.effects, judged=judged)
        found = measure(removals.changes(), len(removals), wanted)
        outputs = (chunk.initial + system.fitted(run.coordinates)).flatten(1).cpu().numpy()
        alone = outputs - found.own[1][:, 0]
        assert chunk.targets is not None
        return HeldScores(
            weight=found.weight * self.factor,
            functional=_times(self.factor, found.functional),
            value=_times(self.factor, found.value),
            kl=found.kl,
            smoothed=None if found.smoothed is None else found.smoothed.information,
            loo_outputs=alone,
            loo_losses=self._losses(alone, chunk),
            outputs=outputs,
            targets=chunk.targets.flatten(1).cpu().numpy(),
            labels=chunk.labels if piece.labels is None else piece.labels,
            ids=piece.ids,
            columns=piece.columns,
            effects=None if found.effects is None else found.effects.called(self.called),
            errors=self._errors(found, system),
            settings={"below_floor": 0.0 if found.smoothed is None else float(found.smoothed.below_floor.sum())},
        )

    def _losses(self, outputs: Floats, chunk: Chunk) -> Floats | None:
        """Of outputs without each sample, by another loss than squared error."""
        if self.learnt is None or chunk.targets is None:
            return None
        targets = chunk.targets.flatten(1)
        found: Floats = self.learnt.loss.value(torch.from_numpy(outputs).to(targets), targets).cpu().numpy()
        return found

    def fit_error(self, one: Chunk) -> float:
        """Of the rational fit of the filter without a sample; `one` is any sample."""
        run = run_of(self.system, one, self.samples, self.training, known=self.learnt)
        return Removals(run, Groups.each(1), of=self.samples).fit_error

    def _felt(self, sources: Sources, system: Eigensystem, chunk: Chunk) -> Probe | None:
        if self.probe is not None or sources.val is None:
            return self.probe
        if self.learnt is not None:
            return sources.val.probe(system)
        if not self.effects:
            return None
        start = chunk.initial.new_zeros(()).expand(sources.val.samples, *chunk.initial.shape[1:])
        return Probe(system, sources.val.rows(), start)

    def _errors(self, found: Measures, system: Eigensystem) -> dict[str, Any] | None:
        if self.uncertainty is None or not isinstance(system, Sketched):
            return None
        errors = self.uncertainty.errors(found, system.outside)
        return {name: error if name == "loo_outputs" else error * self.factor for name, error in errors.items()}


def run_of(system: Eigensystem, chunk: Chunk, samples: int, training: Training, **known: Any) -> TrainedSystem:
    """All samples trained together, looked at from some that were read."""
    return TrainedSystem(
        system=system,
        residual=chunk.residual,
        initial=chunk.initial,
        wanted=chunk.targets,
        along=chunk.along,
        samples=samples,
        training=training,
        **known,
    )


@dataclass(frozen=True, eq=False)
class NamedPiece(Piece):
    """Training samples with what the user says of them."""

    ids: NDArray[Any] | None = None
    columns: pd.DataFrame | None = None
    labels: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Written:
    """The scores of a partition as a file, and the sums of its smoothed information."""

    content: bytes
    smoothed: float
    below_floor: float


def part_of(sources: Sources, solver: Solver, piece: NamedPiece) -> HeldScores | Written:
    """A task: the scores of a partition."""
    found = solver.scores(sources, piece)
    if not solver.written:
        return found
    content = io.BytesIO()
    assert isinstance(piece.index, slice)
    named = found if found.ids is not None else replace(found, ids=np.arange(piece.index.start, piece.index.stop))
    named.write(content)
    total = 0.0 if found.smoothed is None else float(found.smoothed.sum())
    return Written(content.getvalue(), total, float(found.settings["below_floor"]))


def joined(parts: Sequence[HeldScores], settings: Mapping[str, Any]) -> HeldScores:
    """Partitions one after the other."""

    def one(name: str) -> Any:
        found = [getattr(part, name) for part in parts]
        return None if found[0] is None else found[0] if len(found) == 1 else np.concatenate(found)

    columns = [part.columns for part in parts if part.columns is not None]
    effects = [part.effects for part in parts if part.effects is not None]
    errors = [part.errors for part in parts if part.errors is not None]
    measures = ("weight", "functional", "value", "kl", "smoothed", "loo_losses")
    names = (*measures, "loo_outputs", "outputs", "targets", "labels", "ids")
    return HeldScores(
        **{name: one(name) for name in names},
        columns=pd.concat(columns, ignore_index=True) if columns else None,
        effects=Effects.joined(effects) if effects else None,
        errors={name: np.concatenate([part[name] for part in errors]) for name in errors[0]} if errors else None,
        settings=settings,
    )


def _times(factor: float, values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if values is None else values * factor
