"""A job with its data in hand: what is left is computation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.progress import progress
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.readers import Data
from uniqueinfo.runs.readers.data import fingerprint
from uniqueinfo.scores.table import RESERVED, Scores

if TYPE_CHECKING:
    from uniqueinfo.linearization.linearization import Linearization, Probe
    from uniqueinfo.runs.job import Job

_EFFECTS = 5  # validation samples kept for each training sample: those it moves most


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
        """The classes in order; None for regression."""
        assert self.train.labels is not None
        return None if self.train.labels.dtype.kind == "f" else np.unique(self.train.labels)

    @property
    def outputs(self) -> int:
        """How many outputs the network needs: one for two classes, else one for each; one per column of numbers."""
        assert self.train.labels is not None
        if self.classes is None:
            return self.train.labels.reshape(len(self.train), -1).shape[1]
        return 1 if len(self.classes) == 2 else len(self.classes)

    def record(self) -> dict[str, Any]:
        """The settings and fingerprints that make a run what it is, and where its data lies."""
        files = {"train": self.train.files, "val": self.val.files, "model": self.job.model.files}
        return {
            "settings": self.job.settings(),
            "data": {name: fingerprint(paths) for name, paths in files.items() if paths},
            "paths": {
                "train": _absolute(self.job.train),
                "val": _absolute(self.job.val),
                "model": self.job.model.absolute,
                "weights": _absolute(self.job.model.weights),
                "trained": _absolute(self.job.model.trained),
            },
        }

    def network(self) -> Any:
        """The network, built for these inputs and labels."""
        return self.job.model.build(shape(self.train.inputs), self.outputs, self.job.seed)

    def samples(self) -> tuple[Any, Any]:
        """Training and validation data as the library takes them, classes numbered."""
        return _Labelled.of(self.train.inputs, self._targets(self.train)), _Labelled.of(
            self.val.inputs, self._targets(self.val)
        )

    def score(self, run: Run) -> Scores:
        """Compute, and leave the scores in the run folder."""
        started = time.perf_counter()
        scores = self._at_once(run) if self.job.engine is None else self._by_engine(run)
        timings = {"reading": self.seconds, "scoring": time.perf_counter() - started}
        return run.finish(scores, notes=self.notes, timings=timings)

    def linearized(self, run: Run) -> tuple[Linearization, Probe]:
        """The network's linearization on the training samples, and the validation samples to look at it on."""
        return self._head() if self.job.model.linear else self._network(run)

    def _at_once(self, run: Run) -> Scores:
        from uniqueinfo.scoring.arrays import score_linearization

        linearization, probe = self.linearized(run)
        return score_linearization(
            linearization,
            probe,
            self.job.training,
            effects=_EFFECTS,
            labels=self.train.labels,
            ids=self.train.ids,
            columns=self._columns(),
            settings={
                "classes": None if self.classes is None else self.classes.tolist(),
                "projection": repr(getattr(linearization, "projection", None)),
                "notes": list(getattr(linearization, "notes", ())),
            },
        )

    def _by_engine(self, run: Run) -> Scores:
        """Partition by partition; what is done so far lies in the run folder."""
        from uniqueinfo.scoring.arrays import score_features
        from uniqueinfo.scoring.engine import as_engine
        from uniqueinfo.scoring.network import score

        engine = as_engine(self.job.engine, self.job.scheduler)
        common: dict[str, Any] = {"training": self.job.training, "memory": self.job.memory, "device": self.job.device}
        common |= {"ids": self.train.ids, "columns": self._columns(), "engine": engine, "out": run.streamed}
        common["sketch"] = self.job.sketch
        if self.job.model.linear:
            X, X_val = (_with_ones(data.inputs) for data in (self.train, self.val))
            assert self.train.labels is not None
            labels = None if self.val.labels is None else self.val.labels.astype(self.train.labels.dtype)
            found = score_features(X, self.train.labels, X_val, labels, **common)
        else:
            found = score(self.network(), *self.samples(), projection=self._projection, **common)
        classes = None if self.classes is None else self.classes.tolist()
        return replace(found, labels=self.train.labels, settings={**found.settings, "classes": classes})

    @property
    def _projection(self) -> Any:
        from uniqueinfo.jacobian import Factorized

        return None if self.job.projection is None else Factorized(self.job.projection)

    def _head(self) -> tuple[Linearization, Probe]:
        from uniqueinfo.linearization.linearization import Linearization
        from uniqueinfo.samples.encoding import Encoding

        assert self.train.labels is not None
        encoding = Encoding.infer(self.train.labels, None)
        X, X_val = (_with_ones(data.inputs) for data in (self.train, self.val))
        targets = encoding.encode("train", self.train.labels)
        found = Linearization.from_features(X, targets, sketch=self.job.sketch, device=self.job.device)
        if self.val.labels is None:
            return found, found.probe(X_val)
        labels = self.val.labels.astype(self.train.labels.dtype)
        return found, found.probe(X_val, encoding.encode("val", labels))

    def _network(self, run: Run) -> tuple[Linearization, Probe]:
        from uniqueinfo.scoring.network import linearize

        train, val = self.samples()
        found = linearize(
            self.network(),
            train,
            val,
            projection=self._projection,
            sketch=self.job.sketch,
            memory=self.job.memory,
            folder=run.shards,
            device=self.job.device,
        )
        if self.job.training != "auto":
            found.train(self.job.training)  # a rate that diverges is refused before the pass over the validation data
        return found, found.validation

    def _columns(self) -> Any:
        """The user's own columns; one named like a measure says that it was given."""
        columns = self.train.columns
        return None if columns is None else columns.rename(columns={n: f"{n} (given)" for n in RESERVED})

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


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _with_ones(inputs: Any) -> NDArray[Any]:
    """Features, one row per sample, with a column of ones for the intercept."""
    rows = inputs if isinstance(inputs, np.ndarray) else np.stack(list(_each(inputs)))
    return np.column_stack([rows.reshape(len(rows), -1), np.ones(len(rows), dtype=rows.dtype)])


def _each(inputs: Sequence[Any]) -> Iterator[Any]:
    with progress("Reading inputs", len(inputs)) as advance:
        for index in range(len(inputs)):
            yield inputs[index]
            advance(1)
