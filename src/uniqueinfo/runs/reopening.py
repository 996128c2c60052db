"""Back from a run folder to the network and the trained linearization that its scores were measured on."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from uniqueinfo.samples.border import FLAG, PATH, takes
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.origins import reopened
from uniqueinfo.training import Training


@dataclass(frozen=True)
class CodeTrust:
    """Whose code may be run to build the network of a run again: a folder that someone sends could name any.

    Nobody's, unless the user says so or names the model again. Networks that are not made by a file run no code.
    """

    given: bool = False
    model: str | None = None
    """The model, named again."""

    def job(self, run: Run) -> Job:
        """The job of a run with its network; refused where that is made by code that nobody has vouched for."""
        record = run.record
        job = Job.from_record(record).with_model(record)
        if self.model is not None:
            return replace(job, model=replace(job.model, name=self.model))
        code = job.model.code
        if code is not None and not self.given:
            raise InputError(
                f"{run.path}: its network is made by {code}, whose code this question would run; if you trust that "
                f"file, say --trust, or name it again with --model (in Python: ui.load(folder, trust=True))"
            )
        return job


NOBODY, RUN = CodeTrust(), CodeTrust(given=True)
"""No code is run; the code that the run names is."""


@takes(folder=PATH, trust=FLAG)
def load(folder: str | Path, *, trust: bool = False) -> Scores:
    """Scores saved before, or those of a run folder, which come back to their network when a question needs it.

    `folder`: that of `scores.save`, of ``out=`` or of ``uniqueinfo score``.
    `trust`: whether the code of a network that the folder names as `file.py:function` may be run then.
    """
    return scores_of(Run.find(Path(folder)), CodeTrust(given=trust))


def scores_of(run: Run, trust: CodeTrust = NOBODY) -> Scores:
    """The scores of a run; of one of the command line, with the way back to its network."""
    found = run.scores()
    if not run.asked:
        return found
    return replace(found, source=lambda: _origin(run, Training.from_settings(found.settings["training"]), trust))


def validated(
    run: Run,
    scores: Scores,
    *,
    samples: int,
    seed: int,
    budget: str | float | None = None,
    train_function: str | None = None,
    trust: CodeTrust = NOBODY,
) -> Validation | OwnLoop:
    """Train the network again without a few samples (stopped, it is gone on with), or call the user's training."""
    if train_function is not None:
        if budget is not None:
            raise InputError("--budget: is for our own training again; with --with, ask for fewer --samples instead")
        return own_loop(
            scores, function_in("--with", train_function), again(run, trust).samples()[1], samples=samples, seed=seed
        )
    network, (train, val) = _retrainable(run, trust)
    folder = run.retraining / f"{samples}-{seed}"
    asked: dict[str, Any] = {"samples": samples, "seed": seed, "budget": budget}
    return validate(network, train, val, scores=scores, folder=folder, **asked)


def validation_plan(run: Run, scores: Scores, trust: CodeTrust = NOBODY, **asked: Any) -> Plan:
    """How long that would take; trains nothing."""
    if asked.pop("train_function", None) is not None:
        raise InputError("--dry-run: how long your own training takes is not known here; drop --dry-run")
    network, (train, val) = _retrainable(run, trust)
    return expected(network, train, val, scores=scores, **asked)


def _retrainable(run: Run, trust: CodeTrust) -> tuple[Any, tuple[Any, Any]]:
    """The network of a run, and its data."""
    prepared = again(run, trust)
    if prepared.job.model.linear:
        raise InputError(f"{run.path}: a linear model is its own linearization, so its scores are exact already")
    return prepared.network(), prepared.samples()


def again(run: Run, trust: CodeTrust) -> Prepared:
    """The job of a run with its data, if that is still what it was."""
    record, prepared = run.record, prepare(trust.job(run))
    now = prepared.fingerprints()
    changed = [name for name, digest in now.items() if record["data"].get(name) != digest]
    if changed:
        raise InputError(
            f"{run.path}: its {' and '.join(changed)} files have changed since it was scored; score again into "
            "another folder"
        )
    return prepared


def _origin(run: Run, training: Training, trust: CodeTrust) -> Origin:
    """Linearize and train again as the run did; rows or kernels that lie in its folder are not computed again."""
    prepared = again(run, trust).seen(run.folder.features)
    return reopened(prepared.problem(prepared.execution(run.path)), run.folder.work, training)
