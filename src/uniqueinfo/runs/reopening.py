"""Back from a run folder to the network and the trained linearization that its scores were measured on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from uniqueinfo.applications.own_loop import OwnLoop, own_loop
from uniqueinfo.applications.validate import Validation, expected, validate
from uniqueinfo.baselines.planning import Plan
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models.from_file import function_in
from uniqueinfo.runs.prepared import Prepared, prepare
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.origins import reopened
from uniqueinfo.training import Training


def load(folder: str | Path) -> Scores:
    """Scores saved before, or those of a run folder, which come back to their network when a question needs it."""
    return scores_of(Run.find(Path(folder)))


def scores_of(run: Run) -> Scores:
    """The scores of a run; of one of the command line, with the way back to its network."""
    found = run.scores()
    if not run.asked:
        return found
    return replace(found, source=lambda: _origin(run, Training.from_settings(found.settings["training"])))


def validated(
    run: Run,
    scores: Scores,
    *,
    samples: int,
    seed: int,
    budget: str | float | None = None,
    train_function: str | None = None,
) -> Validation | OwnLoop:
    """Train the network again without a few samples (stopped, it is gone on with), or call the user's training."""
    if train_function is not None:
        if budget is not None:
            raise InputError("--budget: is for our own training again; with --with, ask for fewer --samples instead")
        return own_loop(
            scores, function_in("--with", train_function), again(run).samples()[1], samples=samples, seed=seed
        )
    network, (train, val) = _retrainable(run)
    folder = run.path / "retraining" / f"{samples}-{seed}"
    asked: dict[str, Any] = {"samples": samples, "seed": seed, "budget": budget}
    return validate(network, train, val, scores=scores, folder=folder, **asked)


def validation_plan(run: Run, scores: Scores, **asked: Any) -> Plan:
    """How long that would take; trains nothing."""
    if asked.pop("train_function", None) is not None:
        raise InputError("--dry-run: how long your own training takes is not known here; time it once")
    network, (train, val) = _retrainable(run)
    return expected(network, train, val, scores=scores, **asked)


def _retrainable(run: Run) -> tuple[Any, tuple[Any, Any]]:
    """The network of a run, and its data."""
    prepared = again(run)
    if prepared.job.model.linear:
        raise InputError(f"{run.path}: a linear model is its own linearization, so its scores are exact already")
    return prepared.network(), prepared.samples()


def again(run: Run) -> Prepared:
    """The job of a run with its data, if that is still what it was."""
    record = run.record
    prepared = prepare(Job.from_record(record).with_model(record))
    now = prepared.fingerprints()
    changed = [name for name, digest in now.items() if record["data"].get(name) != digest]
    if changed:
        raise InputError(
            f"{run.path}: its {' and '.join(changed)} files have changed since it was scored; score again into "
            "another folder"
        )
    return prepared


def _origin(run: Run, training: Training) -> Origin:
    """Linearize and train again as the run did; rows or kernels that lie in its folder are not computed again."""
    prepared = again(run).seen(run.folder.features)
    return reopened(prepared.problem(prepared.execution(run.path)), run.folder.work, training)
