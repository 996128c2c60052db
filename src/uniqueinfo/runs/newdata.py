"""New inputs for a finished run: read and encoded like its own data, seen by its trained network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from uniqueinfo.linearization.network import LinearizedNetwork
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.prepared import flat, prepared_with
from uniqueinfo.runs.readers import read
from uniqueinfo.runs.readers.labels import check_known
from uniqueinfo.samples.targets import Encoding
from uniqueinfo.spectrum.probe import Probe


def read_inputs(folder: Path, inputs: Path, origin: Origin, *, unlabelled: bool = False) -> Probe:
    """The inputs of a file, with labels where it has any, as a probe of a run's network.

    `unlabelled`: labels are left aside; they travel along as a column, as the names of picture folders do.
    """
    record = Run.find(folder).record
    job = Job.from_record(record).with_model(record)
    train, _, _ = job.read()
    found = read(inputs, job.reading.like(train, unlabelled=unlabelled), labelled=False)
    if train.labels is not None and job.reading.task != "generation":
        check_known(inputs, found.labels, train.labels, found.ids)
    prepared = prepared_with(job, train, found, where=inputs)
    linearization = origin.run.linearization
    if isinstance(linearization, LinearizedNetwork):
        return replace(linearization.probe(prepared.samples()[1]), ids=found.ids, columns=found.columns)
    features = flat(prepared.seen_by_network(prepared.val).inputs)
    targets = None
    if found.labels is not None and train.labels is not None:
        encoding = Encoding.infer(train.labels, None)
        targets = encoding.encode(str(inputs), found.labels.astype(train.labels.dtype))
    return replace(linearization.probe(features, targets), ids=found.ids, columns=found.columns)
