"""A job with its data in hand: what is left is computation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.copies import look_for_copies
from uniqueinfo.baselines.again import FEWEST
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.functions import as_outputs
from uniqueinfo.jacobian.projections import Factorized
from uniqueinfo.linearization.effort import Asked
from uniqueinfo.progress import progress
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.photos.seeing import seen
from uniqueinfo.runs.readers import Data
from uniqueinfo.runs.readers.columns import TableEncoding, filled_texts
from uniqueinfo.runs.readers.data import fingerprint
from uniqueinfo.scores.several import NAMES
from uniqueinfo.scores.table import RESERVED, Scores
from uniqueinfo.scoring.arrays import feature_problem, named
from uniqueinfo.scoring.driver import score_problem
from uniqueinfo.scoring.engines import as_engine
from uniqueinfo.scoring.execution import Execution
from uniqueinfo.scoring.given import GivenFeatures
from uniqueinfo.scoring.network import Network, network_problem
from uniqueinfo.scoring.problem import Names, Problem

_EFFECTS = 5  # validation samples kept for each training sample: those it moves most


def prepare(job: Job) -> Prepared:
    """Read and check everything; what follows is computation."""
    started = time.perf_counter()
    train, val, notes = job.read()
    return prepared_with(job, train, val, where=job.val or job.train, notes=notes, started=started)


def prepared_with(
    job: Job, train: Data, val: Data, *, where: Path, notes: tuple[str, ...] = (), started: float | None = None
) -> Prepared:
    """The same with other samples in place of the validation samples, which lie `where`."""
    train, val = _encoded(job, train, val, where)
    if shape(train.inputs) != shape(val.inputs):
        raise InputError(
            f"{where}: samples are of shape {shape(val.inputs)}, and those of {job.train} of shape "
            f"{shape(train.inputs)}; make them alike"
        )
    seconds = 0.0 if started is None else time.perf_counter() - started
    return Prepared(job, train, val, notes, seconds)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A job with its data in hand."""

    job: Job
    train: Data
    val: Data
    notes: tuple[str, ...]
    seconds: float

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes in order; None for several labels of each sample, for regression and for texts."""
        if self._generates:
            return None
        labels = self.train.labels
        assert labels is not None
        return None if labels.dtype.kind == "f" or labels.ndim > 1 else np.unique(labels)

    @property
    def outputs(self) -> int:
        """How many outputs the network needs: one for two classes, else one for each; one per column of numbers."""
        if self._generates:
            return 1  # a margin
        assert self.train.labels is not None
        if self.classes is None:
            return self.train.labels.reshape(len(self.train), -1).shape[1]
        return 1 if len(self.classes) == 2 else len(self.classes)

    def record(self) -> dict[str, Any]:
        """The settings and fingerprints that make a run what it is, and where its data lies."""
        return {
            "settings": self.job.settings(),
            "data": self.fingerprints(),
            "paths": {
                "train": _absolute(self.job.train),
                "val": _absolute(self.job.val),
                "model": self.job.model.absolute,
                "weights": _absolute(self.job.model.weights),
                "trained": _absolute(self.job.model.trained),
            },
        }

    def fingerprints(self) -> dict[str, str]:
        """Of all files the scores depend on; files that serve twice are looked at once."""
        files = {"train": self.train.files, "val": self.val.files, "model": self.job.model.files}
        known: dict[tuple[Path, ...], str] = {}
        return {name: known.setdefault(paths, fingerprint(paths)) for name, paths in files.items() if paths}

    def seen(self, folder: Path | None) -> Prepared:
        """The same with what the frozen network sees in place of the samples, where the model has one."""
        return replace(
            self,
            train=self.seen_by_network(self.train, "train", folder),
            val=self.seen_by_network(self.val, "val", folder),
        )

    def seen_by_network(self, data: Data, name: str = "", folder: Path | None = None) -> Data:
        """Features of some samples, kept in a folder under a name; the samples themselves where none are needed."""
        network = self.job.model.frozen()
        if network is None:
            return data
        return replace(data, inputs=seen(network, data.inputs, name, folder, self.job.device))

    def network(self) -> Any:
        """The network, built for these inputs and labels."""
        return self.job.model.build(shape(self.train.inputs), self.outputs, self.job.seed)

    def samples(self) -> tuple[Any, Any]:
        """Training and validation data as the library takes them, classes numbered."""
        return _Labelled.of(self.train.inputs, self._targets(self.train)), _Labelled.of(
            self.val.inputs, self._targets(self.val)
        )

    def check(self, validate: int = 0) -> None:
        """Refuse what can be refused before anything is written; `validate`: samples to train again without."""
        self.execution(Path())
        if self.job.model.code is not None:
            self.network()
        if validate and self.job.model.linear:
            raise InputError(
                "--validate: a linear model is its own linearization, so its scores are exact already; drop the option"
            )
        if validate and not FEWEST <= validate <= len(self.train):
            raise InputError(
                f"--validate {validate}: give {FEWEST} to {len(self.train)} of the {len(self.train)} training samples; "
                "a correlation of fewer says nothing"
            )

    def execution(self, out: Path) -> Execution:
        """Where the job is to run."""
        return Execution(
            effort=self.job.effort,
            sketch=self.job.sketch,
            memory=self.job.memory,
            threads=self.job.threads,
            device=self.job.device,
            engine=as_engine(self.job.engine, self.job.scheduler),
            out=out,
        )

    def problem(self, execution: Execution) -> Problem:
        """What is to be scored, in the library's words."""
        if self.job.model.linear:
            X, X_val = (flat(data.inputs) for data in (self.train, self.val))
            labels = self.val.labels
            if labels is not None and self.train.labels is not None:
                labels = labels.astype(self.train.labels.dtype)
            sources = GivenFeatures(X, self.train.labels, X_val, labels, names=self.train.label_names).sources(
                "balanced", self.job.device, self.job.training.loss
            )
            problem = feature_problem(sources, self.job.training, execution)
        else:
            model = self.network()
            counted_as = as_outputs(None, model) if self._generates else None
            network = Network(model, *self.samples(), projection=self._projection, outputs=counted_as)
            problem, _ = network_problem(network, self.job.training, execution)
            if not self._generates:
                train = problem.sources.train
                self._check_outputs(train.per_sample * train.columns)
        classes = None if self.classes is None else self.classes.tolist()
        names = None if self.train.label_names is None else list(self.train.label_names)
        return replace(
            problem,
            effects=_EFFECTS,
            names=replace(self._names(self.train), validation=self.val.ids),
            held_out=self._names(self.val) if self.job.val is None else None,
            settings={**problem.settings, "classes": classes, NAMES: names},
        )

    def score(self, run: Run) -> Scores:
        """Compute, and leave the scores in the run folder; what is done so far lies there."""
        started = time.perf_counter()
        execution = self.execution(run.path)
        problem = self.seen(run.folder.features).problem(execution)
        scores = score_problem(problem, execution, run.folder)
        seconds = time.perf_counter() - started
        copies = look_for_copies(scores)
        timings = {"reading": self.seconds, "scoring": seconds, "comparing": time.perf_counter() - started - seconds}
        notes = (*self.notes, *_of_held_out(scores))
        run.told(notes=notes, timings=timings, copies=copies.as_json())
        return replace(run.scores(), source=scores.source)

    def _check_outputs(self, found: int) -> None:
        """Refuse a network with other outputs than there are classes; two may have one each."""
        wanted = {self.outputs, 2} if self.outputs == 1 and self.classes is not None else {self.outputs}
        if found not in wanted:
            what = "labels or numbers to predict" if self.classes is None else "classes"
            count = self.outputs if self.classes is None else len(self.classes)
            raise InputError(
                f"--model {self.job.model.name}: the network has {found} outputs for {count} {what}; give it "
                f"{' or '.join(map(str, sorted(wanted)))}"
            )

    @property
    def _generates(self) -> bool:
        """Whether texts are to be written."""
        return self.job.reading.task == "generation"

    def _names(self, data: Data) -> Names:
        """What the user says of samples; the tokens of texts say nothing to people."""
        found = _names(data)
        return replace(found, labels=None) if self._generates else found

    @property
    def _projection(self) -> Asked:
        asked = self.job.projection
        return Factorized(asked) if isinstance(asked, int) else asked

    def _targets(self, data: Data) -> NDArray[Any] | None:
        """Class numbers, or the numbers to predict."""
        if data.labels is None or self.classes is None:
            return data.labels
        number = {str(name): index for index, name in enumerate(self.classes)}
        return np.array([number[str(label)] for label in data.labels], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Inputs that are read one by one, with their labels: a data set."""

    inputs: Sequence[Any]
    labels: NDArray[Any]

    @classmethod
    def of(cls, inputs: Any, labels: NDArray[Any] | None) -> Any:
        """As the library takes them: arrays stay arrays."""
        if isinstance(inputs, np.ndarray | dict):
            return inputs if labels is None else (inputs, labels)
        return inputs if labels is None else cls(inputs, labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.inputs[index], self.labels[index]


def shape(inputs: Any) -> tuple[int, ...]:
    """Of one sample."""
    if isinstance(inputs, dict):
        return shape(next(iter(inputs.values())))
    return tuple(inputs.shape[1:])


def _encoded(job: Job, train: Data, val: Data, where: Path) -> tuple[Data, Data]:
    """Columns of tables as numbers, or texts as tokens; other inputs are numbers already."""
    if job.reading.embed is not None and (train.roles is None or "text" not in _read_as(job, train)):
        raise InputError(
            f"--embed {job.reading.embed}: {job.train} has no column of texts to embed; name one with --text, or drop "
            "--embed"
        )
    generates = job.reading.task == "generation"
    if generates and not (isinstance(train.inputs, pd.DataFrame) and job.model.reads_text and job.reading.text):
        raise InputError(
            "--task generation: needs a table of texts, their column with --text, and a network that writes texts, "
            "such as --model transformers:NAME; name these"
        )
    if not isinstance(train.inputs, pd.DataFrame):
        return train, val
    if job.model.reads_text:
        return _tokenized(job, train, val)
    reading = job.reading
    encoding = TableEncoding.fit(
        train.inputs, roles=train.roles, text=reading.text, embed=reading.embed, fill=reading.fill
    )
    return (
        replace(train, inputs=encoding(job.train, train.inputs)),
        replace(val, inputs=encoding(where, val.inputs)),
    )


def _read_as(job: Job, train: Data) -> list[str]:
    """What the columns are read as."""
    assert train.roles is not None
    return ["text" if name == job.reading.text else role for name, role in train.roles.items()]


def _tokenized(job: Job, train: Data, val: Data) -> tuple[Data, Data]:
    text = job.reading.text or str(train.inputs.columns[0])
    if text not in val.inputs or (job.reading.text is None and len(train.inputs.columns) > 1):
        raise InputError(f"--model {job.model.name}: reads one column of texts; name it with --text")
    texts = [*filled_texts(train.inputs[text]), *filled_texts(val.inputs[text])]
    n = len(train)
    if job.reading.task == "generation":
        after = None if train.labels is None or val.labels is None else [*train.labels.tolist(), *val.labels.tolist()]
        tokens, targets = job.model.written(texts, after)
        train = replace(train, labels=None if targets is None else targets[:n])
        val = replace(val, labels=None if targets is None else targets[n:])
    else:
        tokens = job.model.tokens(texts)  # together, so that both are padded to one length
    return (
        replace(train, inputs={name: array[:n] for name, array in tokens.items()}),
        replace(val, inputs={name: array[n:] for name, array in tokens.items()}),
    )


def _names(data: Data) -> Names:
    """What the user says of samples; a column named like a measure says that it was given."""
    columns = None if data.columns is None else data.columns.rename(columns={n: f"{n} (given)" for n in RESERVED})
    return replace(named(data.ids, columns, len(data)), labels=data.labels, rows=data.rows)


def _of_held_out(scores: Scores) -> tuple[str, ...]:
    """What to know of samples that were held out, where they could not be measured."""
    about = scores.settings.get("held_out")
    if about is None or about["added"]:
        return ()
    return (f"samples held out have predictions and no information: {about['why']}",)


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def flat(inputs: Any) -> NDArray[Any]:
    """Numbers, one row per sample."""
    rows = inputs if isinstance(inputs, np.ndarray) else np.stack(list(_each(inputs)))
    return rows.reshape(len(rows), -1)


def _each(inputs: Sequence[Any]) -> Iterator[Any]:
    with progress("Reading inputs", len(inputs)) as advance:
        for index in range(len(inputs)):
            yield inputs[index]
            advance(1)
