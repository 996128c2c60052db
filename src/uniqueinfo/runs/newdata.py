"""New inputs for a finished run: read and encoded like its own data, seen by its trained network."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from uniqueinfo.linearization.linearization import Probe
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.prepared import Prepared
from uniqueinfo.runs.readers import Data, read
from uniqueinfo.runs.readers.labels import check_known
from uniqueinfo.scoring.network import LinearizedNetwork, linearize


@dataclass(frozen=True)
class _Look(Job):
    """A job with new inputs in place of its validation samples."""

    inputs: Path = Path()

    def read(self) -> tuple[Data, Data, tuple[str, ...]]:
        """The training samples of the job, held-out ones left out, and the new inputs."""
        train, _, _ = super().read()
        found = read(self.inputs, self.reading, labelled=False)
        assert train.labels is not None
        check_known(self.inputs, found.labels, train.labels)
        return train, found, found.notes


def read_inputs(folder: Path, inputs: Path, origin: Origin) -> Probe:
    """The inputs of a file, with labels where it has any, as a probe of a run's network."""
    run = Run.find(folder)
    job = Job.from_record(run.record).with_model(run.record)
    given = {field.name: getattr(job, field.name) for field in fields(job)}
    prepared = _Look(**given, inputs=inputs).prepare()
    linearization = origin.run.linearization
    if isinstance(linearization, LinearizedNetwork):
        return _seen(prepared, linearization, origin)
    return replace(prepared.linearized(run)[1], system=origin.run.system)


def _seen(prepared: Prepared, linearization: LinearizedNetwork, origin: Origin) -> Probe:
    """Through a linearization of their own: that of the run keeps its validation rows where these would go."""
    unlabelled, known = prepared.val.labels is None, prepared.train.labels
    assert known is not None
    if unlabelled:  # rows do not depend on labels
        anything = np.full(len(prepared.val), known[0], dtype=known.dtype)
        prepared = replace(prepared, val=replace(prepared.val, labels=anything))
    found = linearize(
        prepared.network(),
        prepared.samples()[1],
        projection=linearization.projection,
        form="primal",  # rows, however few
        memory=prepared.job.memory,
        device=prepared.job.device,
    )
    assert found.rows is not None
    targets = None if unlabelled else found.residual + found.initial
    return Probe(origin.run.system, found.rows, found.initial, targets)
