"""The one way to scores: partitions → sums → eigenvectors → training → scores of partitions.

In memory, into a folder, in this process or on a cluster: the same steps on the same partitions. The dual form holds a
matrix of all samples, so it is worked on in this process whatever the engine. A sketch takes several passes over the
partitions in place of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import showing
from uniqueinfo.scores.folder import RunFolder
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.engine import Engine, LocalEngine
from uniqueinfo.scoring.engines import as_engine
from uniqueinfo.scoring.execution import Execution
from uniqueinfo.scoring.held_out import held_out_scores
from uniqueinfo.scoring.identity import identity_of, mark_of
from uniqueinfo.scoring.origins import reopened
from uniqueinfo.scoring.parts import Written, joined, part_of
from uniqueinfo.scoring.pieces import shown, sizes
from uniqueinfo.scoring.problem import Place, Problem
from uniqueinfo.scoring.sources import FeatureSource, JacobianSource
from uniqueinfo.scoring.underway import Underway
from uniqueinfo.scoring.work import Work
from uniqueinfo.store.folder import WORK, OwnedFolder
from uniqueinfo.threads import sharing
from uniqueinfo.training import Training

_SMALL = 1e8  # multiplications: some hundredths of a second


def score_problem(problem: Problem, execution: Execution, run: RunFolder | None = None) -> Scores:
    """Scores in memory or, where a run folder is named or handed over, in that folder, part by part.

    The same call on the folder of a killed run goes on with it. A `run` that is handed over knows what it is of.
    """
    problem.check()
    engine = as_engine(execution.engine)
    with showing(execution.progress), sharing(execution.threads, small=_is_small(problem)):
        if run is None and execution.out is None:
            return _held(problem, execution, engine)
        if run is not None:
            return _stored(problem, execution, engine, run)
        assert execution.out is not None
        with engine.open(problem.sources) as session:
            identity = identity_of(problem, session)
        run = RunFolder.open(Path(execution.out), identity)
        with run.folder.held(), run.attempted():
            return _stored(problem, execution, engine, run)


def _is_small(problem: Problem) -> bool:
    """Whether all is done before other threads are awake: arrays, no network."""
    train = problem.sources.train
    if not isinstance(train, FeatureSource | JacobianSource):
        return False
    return train.samples * train.per_sample * train.width * problem.choice.side < _SMALL


def _held(problem: Problem, execution: Execution, engine: Engine) -> Scores:
    with _driver(problem, execution, engine) as driver:
        solver = driver.solver(written=False)
        parts = driver.parts(solver)
        found = dict(shown("Leaving out", driver.session.map(part_of, solver, parts), sizes(parts)))
        below = sum(float(part.settings["below_floor"]) for part in found.values())
        held = joined([found[number] for number in parts], {})
        total = 0.0 if held.smoothed is None else float(held.smoothed.sum())
        settings = driver.settings(solver, below / total if total > 0 else 0.0)
        driver.work.done(questions=False)
        return replace(held, settings=settings, source=driver.origin())


def _stored(problem: Problem, execution: Execution, engine: Engine, run: RunFolder) -> Scores:
    if run.finished:
        Work.left_in(run.work)
        stored = run.scores()
        training = Training.from_settings(stored.settings["training"])
        return replace(stored, source=lambda: reopened(problem, run.work, training))
    return _computed(problem, execution, engine, run)


def _computed(problem: Problem, execution: Execution, engine: Engine, run: RunFolder) -> Scores:
    with _driver(problem, execution, engine, run) as driver:
        solver = driver.solver(written=True)
        parts = driver.parts(solver)
        missing = {number: piece for number, piece in parts.items() if not run.has_part(number)}
        for number, part in shown("Leaving out", driver.session.map(part_of, solver, missing), sizes(missing)):
            assert isinstance(part, Written)
            driver.work.keep_smoothed(number, [part.smoothed, part.below_floor])
            run.keep_part(number, part.content)
        told = [driver.work.smoothed(number) or [0.0, 0.0] for number in parts]
        total, below = (sum(each[at] for each in told) for at in (0, 1))
        if problem.held_out is not None:
            run.keep_held_out(held_out_scores(driver.origin()(), problem.held_out, problem.factor).content())
        run.finish(driver.settings(solver, below / total if total > 0 else 0.0), len(parts))
        driver.work.done(questions=True)
        return replace(run.scores(), source=driver.origin())


@contextmanager
def _driver(problem: Problem, execution: Execution, engine: Engine, run: RunFolder | None = None) -> Iterator[Underway]:
    """The sources made ready, the engine opened on them, and the work found that was done before."""
    work = execution.work if run is None else run.work
    folder = None if work is None else OwnedFolder.open(work, WORK, {})
    sources = problem.ready(problem.sources, Place(work, isinstance(engine, LocalEngine), owned=run is not None))
    # A run is of one problem; a folder may hold the work of another.
    mark = mark_of(problem, sources) if folder is not None and run is None else ""
    memory = None if execution.memory is None else as_bytes(execution.memory)
    alone = nullcontext() if folder is None or run is not None else folder.held()  # a run's folder is held already
    with alone, (engine if problem.streams else LocalEngine()).open(sources) as session:
        yield Underway(problem, sources, session, Work(folder, mark), memory)
