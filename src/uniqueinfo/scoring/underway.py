"""A problem on its way to scores: every step finds what was done before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

from uniqueinfo.information.measures import Precision
from uniqueinfo.information.uncertainty import Uncertainty
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.linearization.removal import warn_of_floor_share
from uniqueinfo.linearization.source import Chunk
from uniqueinfo.removal.stopping import StoppingCurve
from uniqueinfo.removal.trained import TrainedSystem, trainable
from uniqueinfo.scores.table import versions
from uniqueinfo.scoring.cut import partition, slices
from uniqueinfo.scoring.engine import Session
from uniqueinfo.scoring.held_out import why_not_added
from uniqueinfo.scoring.learning import Learning, check_targets
from uniqueinfo.scoring.origins import origin_of
from uniqueinfo.scoring.parts import NamedPiece, Solver, run_of
from uniqueinfo.scoring.pieces import Name, Piece, Sources
from uniqueinfo.scoring.problem import Problem
from uniqueinfo.scoring.rounding import solved_with, stated
from uniqueinfo.scoring.sketching import SessionPasses
from uniqueinfo.scoring.stopping import curve_over
from uniqueinfo.scoring.summing import sums_over
from uniqueinfo.scoring.work import Work
from uniqueinfo.spectrum import rows
from uniqueinfo.spectrum.dual import Dual
from uniqueinfo.spectrum.eigensystem import Eigensystem, FromRows
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.probe import Probe, Target
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.spectrum.unrotated import Unrotated
from uniqueinfo.training import Auto, Training

_ALIKE = 0.02  # of the least error: outputs taken to be alike go on to gain a little where each alone gains no more


@dataclass(eq=False)
class Underway:
    """A problem on its way; every step finds what was done before."""

    problem: Problem
    sources: Sources
    session: Session
    work: Work
    memory: int | None

    def __post_init__(self) -> None:
        train = self.sources.train
        self._cut = self.work.cut({name: self._partition(name) for name in self.sources.names()})
        self.samples = train.samples
        check_targets(self.sources, self.problem.training, self._cut["train"])
        self.system = self._system()
        self.training, self._about = self._training()
        self.solving, self._left_over = solved_with(self.problem, self.sources, self.system, self.training)
        learn = self.problem.learn
        self.learnt = self._learning.learnt(self.training) if learn is None else learn()

    def solver(self, *, written: bool) -> Solver:
        """All that the scores of a partition need."""
        return self._solver(self.solving, written=written)

    def _solver(self, system: Eigensystem, *, written: bool) -> Solver:
        problem, val = self.problem, self.sources.val
        run = run_of(system, self._one_sample(), self.samples, self.training, known=self.learnt)
        probe = self._probe if system is self.system or val is None else val.probe(system)
        target = self._target(run, probe)
        return Solver(
            system=system.over(slice(None), None),
            samples=self.samples,
            training=self.training,
            target=target,
            precision=self._precision(),
            uncertainty=self._uncertainty(run, probe),
            factor=problem.factor,
            effects=problem.effects,
            probe=probe if problem.effects or self.learnt is not None else None,
            learnt=self.learnt,
            partition=self._cut["train"],
            called=problem.names.validation if problem.effects else None,
            written=written,
        )

    def parts(self, solver: Solver) -> dict[int, NamedPiece]:
        """The partitions of the training samples, with what the user says of them."""
        names = self.problem.names
        return {
            number: NamedPiece(
                name="train",
                index=part,
                ids=None if names.ids is None else names.ids[part],
                columns=None if names.columns is None else names.columns.iloc[part],
                labels=None if names.labels is None else names.labels[part],
            )
            for number, part in enumerate(slices(self.samples, self._cut["train"]))
        }

    def origin(self) -> Callable[[], Origin]:
        """How to come back to what was measured."""
        about = (self.training, self.learnt, self._probe)
        return partial(origin_of, self.problem, self.sources, self.system, *about)

    def settings(self, solver: Solver, below_floor: float) -> dict[str, Any]:
        """How the scores were computed."""
        problem, train, val = self.problem, self.sources.train, self.sources.val
        return {
            **self._about,
            "smoothing": self._smoothing(solver.precision, below_floor),
            "form": problem.choice.form,
            "form_side": problem.choice.side,
            "form_why": problem.choice.why,
            "samples": train.samples,
            "outputs": train.per_sample * train.columns,
            "width": train.width,
            "validation_samples": None if val is None else val.samples,
            "largest_eigenvalue": self.system.largest,
            "partition": self._cut["train"],
            "fit_error": solver.fit_error(self._one_sample()),
            "rounding": stated(
                self.solving,
                self._left_over,
                self.training,
                self.sources,
                solver,
                partial(self._solver, written=False),
            ),
            "learnt": None if self.learnt is None else self.learnt.settings(),
            "versions": versions(),
            **self._held_out(),
            "agreement": None if problem.trial is None else dict(problem.trial.agreement(self.training)),
            **problem.settings,
        }

    def _partition(self, name: Name) -> int:
        source = self.sources.named(name)
        if self.problem.choice.form == "steps":  # all go through the steps together
            return source.samples
        if self.problem.streams:
            directions = self.problem.choice.side if self.problem.choice.form == "sketch" else None
            return partition(source, self.memory, directions)
        each = 8 * source.per_sample * (self.problem.choice.side + (source.width or 0))
        return max(1, rows.CHUNK_BYTES // each)

    def _system(self) -> Eigensystem:
        problem, train = self.problem, self.sources.train
        if problem.known is not None:
            return problem.known
        if problem.choice.form == "steps":
            return Unrotated.of(train.rows())
        if problem.choice.form == "primal":
            all_rows = train.rows()
            found = self.work.spectrum(None, all_rows, train.device)
            if found is None:
                found = Primal.from_sums(self._sums("train"), all_rows)
                self.work.keep_spectrum(found)
            return found
        if problem.choice.form == "sketch":
            return Sketched.grown(self._passes, train.rows(), train.columns, problem.choice.side)
        residual = train.read(slice(0, train.samples), rows=False).residual
        known = None if train.width is None else train.rows()
        found = self.work.spectrum(residual, known, train.device)
        if found is None:
            kernel = train.rows()[:].flatten(0, 1) if known is None else None
            found = Dual.of(residual, known, kernel)
            self.work.keep_spectrum(found)
        return found

    def _sums(self, name: Name) -> Sums:
        return sums_over(self.session, self.work, name, self._pieces(name))

    @property
    def _passes(self) -> SessionPasses:
        return SessionPasses(self.session, self._pieces("train"), self.sources.train.device)

    def _pieces(self, name: Name) -> list[Piece]:
        return [Piece(name, part) for part in slices(self.sources.named(name).samples, self._cut[name])]

    def _training(self) -> tuple[Training, dict[str, Any]]:
        """The training, and the settings that tell about it."""
        asked = self.problem.training
        if not isinstance(asked, Auto):
            asked = trainable(self.system, asked, self.samples)
            return asked, {"training": asked.settings(), "stopping": None}
        about = self.work.training
        if about is None:
            curve = self._stopping() if asked.in_closed_form else self._learning.curve(asked)
            about = {"training": curve.best.settings(), "stopping": curve.settings()}
            self.work.keep_training(about)
        return Training.from_settings(about["training"]), about

    def _stopping(self) -> StoppingCurve:
        alike = self.problem.settings.get("output_average") is not None
        return replace(curve_over(self.session, self.sources, self.system), near=_ALIKE if alike else 0.0)

    @property
    def _learning(self) -> Learning:
        return Learning(self.session, self.sources, self.system, self._cut["train"])

    def _target(self, run: TrainedSystem, probe: Probe | None) -> Target | None:
        val = self.sources.val
        if val is None:
            return None
        if probe is not None:
            return probe.target(run.coordinates)
        system = self.system
        assert isinstance(system, FromRows)
        if val.samples * val.per_sample < system.rank:  # few: through their rows themselves
            return val.probe(system).target(run.coordinates)
        sums = self._sums("val")
        fisher, pull = system.metric_of(sums)
        if sums.moment.shape[1] == 0 or self.learnt is not None:
            return Target(fisher, None)
        return Target(fisher, fisher.apply(run.coordinates.T) - pull.T)

    @cached_property
    def _probe(self) -> Probe | None:
        """The validation samples, where they are looked at through more than sums."""
        val = self.sources.val
        return None if val is None or isinstance(self.system, Primal) else val.probe(self.system)

    def _precision(self) -> Precision | None:
        if self.problem.smoothing is None:
            return None
        linearization = self.problem.face(self.sources, self.system)
        run = Trained.of(linearization, self.training, self.system, known=self.learnt)
        return self.problem.smoothing.precision(run)

    def _uncertainty(self, run: TrainedSystem, probe: Probe | None) -> Uncertainty | None:
        if not isinstance(self.system, Sketched):
            return None
        train = self.sources.train
        found = train.read(slice(0, train.samples), rows=False)
        passes = self._passes if self.problem.streams else None
        return Uncertainty.of(replace(run, residual=found.residual, initial=found.initial), probe, passes)

    def _smoothing(self, precision: Precision | None, below_floor: float) -> dict[str, Any] | None:
        if self.problem.smoothing is None or precision is None:
            return None
        inverted = {} if precision.conditioning is None else asdict(precision.conditioning)
        warn_of_floor_share(precision.conditioning, below_floor)
        return self.problem.smoothing.settings() | inverted | {"share_below_floor": below_floor}

    def _held_out(self) -> dict[str, Any]:
        """Whether samples that were held out are measured too, where any get scores."""
        if self.problem.held_out is None:
            return {}
        why = why_not_added(self.system, self.training, self.samples)
        return {"held_out": {"added": why is None, "why": why}}

    def _one_sample(self) -> Chunk:
        """Enough for what looks at shapes alone."""
        return self.sources.train.read(slice(0, 1), rows=False)
