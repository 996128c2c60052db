"""Back from a run folder to the network and the trained linearization that its scores were measured on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uniqueinfo.errors import InputError
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.training import Training

if TYPE_CHECKING:
    from uniqueinfo.applications.validate import Validation
    from uniqueinfo.runs.prepared import Prepared
    from uniqueinfo.scores.table import Scores


def revive(run: Run, settings: Mapping[str, Any]) -> Origin:
    """Linearize and train again as the run did; Jacobian rows that lie in its folder are not computed again."""
    linearization, probe = _prepared(run).linearized(run)
    return Origin(linearization.train(Training.from_settings(settings["training"])), probe)


def validated(run: Run, scores: Scores, *, samples: int, seed: int) -> Validation:
    """Train the run's network again without a few samples; stopped, it is gone on with."""
    from uniqueinfo.applications.validate import validate

    prepared = _prepared(run)
    if prepared.job.model.linear:
        raise InputError(f"{run.folder}: a linear model is its own linearization, so its scores are exact already")
    train, val = prepared.samples()
    folder = run.folder / "retraining" / f"{samples}-{seed}"
    return validate(prepared.network(), train, val, samples=samples, seed=seed, scores=scores, folder=folder)


def _prepared(run: Run) -> Prepared:
    """The job of a run with its data, if that is still what it was."""
    prepared = Job.from_record(run.record).with_model(run.record).prepare()
    changed = [name for name, digest in prepared.record()["data"].items() if run.record["data"].get(name) != digest]
    if changed:
        raise InputError(
            f"{run.folder}: its {' and '.join(changed)} files have changed since it was scored; score again into "
            "another folder"
        )
    return prepared
