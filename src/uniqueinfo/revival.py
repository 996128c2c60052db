"""Back from a run folder to the trained linearization that its scores were measured on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uniqueinfo.errors import InputError
from uniqueinfo.job import Job
from uniqueinfo.origin import Origin
from uniqueinfo.runs import Run
from uniqueinfo.training import from_settings


def revive(run: Run, settings: Mapping[str, Any]) -> Origin:
    """Linearize and train again as the run did; Jacobian rows that lie in its folder are not computed again."""
    prepared = Job.from_record(run.record).with_model(run.record).prepare()
    changed = [name for name, digest in prepared.record()["data"].items() if run.record["data"].get(name) != digest]
    if changed:
        raise InputError(
            f"{run.folder}: its {' and '.join(changed)} files have changed since it was scored; score again into "
            "another folder"
        )
    linearization, probe = prepared.linearized(run)
    return Origin(linearization.train(from_settings(settings["training"])), probe)
