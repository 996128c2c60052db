"""One scoring job as a person asks for it: files and names in, scores in a run folder out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.inputs import Data, Reading, hold_out, read
from uniqueinfo.inputs.data import fingerprint
from uniqueinfo.inputs.labels import check_known
from uniqueinfo.models import ModelChoice
from uniqueinfo.progress import progress
from uniqueinfo.runs import Run
from uniqueinfo.scores import RESERVED, Scores
from uniqueinfo.training import Converged, GradientDescent, GradientFlow, Training

_EFFECTS = 5  # validation samples kept for each training sample: those it moves most
TrainingName = Literal["auto", "descent", "flow", "converged"]


@dataclass(frozen=True)
class Job:
    """What to score, with which network, trained how."""

    train: Path
    model: ModelChoice
    val: Path | None = None
    reading: Reading = field(default_factory=Reading)
    training: Training | Literal["auto"] = "auto"
    projection: int | None = 2000
    """Columns kept of each parameter; None keeps all."""
    holdout: float = 0.2
    """Share of the training samples to validate on where there is no `val`."""
    seed: int = 0
    device: str | None = None
    memory: str | None = None

    def prepare(self) -> Prepared:
        """Read and check everything; what follows is computation."""
        started = time.perf_counter()
        train, val, notes = self.read()
        train, val = self._encoded(train, val)
        if _shape(train.inputs) != _shape(val.inputs):
            raise InputError(
                f"{self.val}: samples are of shape {_shape(val.inputs)}, and those of {self.train} of shape "
                f"{_shape(train.inputs)}; make them alike"
            )
        return Prepared(self, train, val, notes, time.perf_counter() - started)

    def read(self) -> tuple[Data, Data, tuple[str, ...]]:
        """Training and validation samples as they stand in the files, and what to know about them."""
        found = read(self.train, self.reading)
        labels = found.labels
        assert labels is not None
        if self.val is None:
            chosen, held = hold_out(labels, self.holdout, self.seed)
            how = "at random" if labels.dtype.kind == "f" else "a share of each class"
            note = f"no validation data named: {len(held)} of the {len(found)} samples ({how}) are held out for it"
            return found.take(chosen), found.take(held), (*found.notes, note)
        val = read(self.val, self.reading, labelled=False)
        check_known(self.val, val.labels, labels)
        unlabelled = "the validation data has no labels: information is computed, the value of samples is not"
        return found, val, (*found.notes, *val.notes, *([unlabelled] if val.labels is None else []))

    def settings(self) -> dict[str, Any]:
        """Everything asked for that the scores depend on, for run.json."""
        training: Any = self.training
        return {
            "reading": asdict(self.reading),
            "model": {"name": self.model.name, "pretrained": self.model.pretrained},
            "training": "auto" if training == "auto" else {"algorithm": type(training).__name__, **asdict(training)},
            "projection": self.projection,
            "holdout": self.holdout if self.val is None else None,
            "seed": self.seed,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Job:
        """The job of a run.json, as far as reading its data goes."""
        settings, paths = record["settings"], record["paths"]
        return cls(
            Path(paths["train"]),
            ModelChoice("linear"),
            paths["val"] and Path(paths["val"]),
            Reading(**{**settings["reading"], "extra": tuple(settings["reading"]["extra"])}),
            holdout=settings["holdout"] or 0.2,
            seed=settings["seed"],
        )

    def _encoded(self, train: Data, val: Data) -> tuple[Data, Data]:
        if not hasattr(train.inputs, "iloc"):
            return train, val
        where = self.val or self.train
        if self.model.reads_text:
            return self._tokenized(train, val)
        from uniqueinfo.inputs.encoding import TableEncoding

        encoding = TableEncoding.fit(train.inputs, text=self.reading.text, embed=self.reading.embed)
        return (
            replace(train, inputs=encoding(self.train, train.inputs)),
            replace(val, inputs=encoding(where, val.inputs)),
        )

    def _tokenized(self, train: Data, val: Data) -> tuple[Data, Data]:
        text = self.reading.text or str(train.inputs.columns[0])
        if text not in val.inputs or (self.reading.text is None and len(train.inputs.columns) > 1):
            raise InputError(f"--model {self.model.name}: reads one column of texts; name it with --text")
        texts = [*train.inputs[text].astype(str), *val.inputs[text].astype(str)]
        tokens = self.model.tokens(texts)  # together, so that both are padded to one length
        n = len(train)
        return (
            replace(train, inputs={name: array[:n] for name, array in tokens.items()}),
            replace(val, inputs={name: array[n:] for name, array in tokens.items()}),
        )


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
            "paths": {"train": _absolute(self.job.train), "val": _absolute(self.job.val)},
        }

    def network(self) -> Any:
        """The network, built for these inputs and labels."""
        return self.job.model.build(_shape(self.train.inputs), self.outputs, self.job.seed)

    def features(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Training and validation features of a linear model, with a column of ones for the intercept."""
        return _flat(self.train.inputs), _flat(self.val.inputs)

    def samples(self) -> tuple[Any, Any]:
        """Training and validation data as the library takes them, classes numbered."""
        return _Labelled.of(self.train.inputs, self._targets(self.train)), _Labelled.of(
            self.val.inputs, self._targets(self.val)
        )

    def score(self, run: Run) -> Scores:
        """Compute, and leave the scores in the run folder."""
        started = time.perf_counter()
        scores = self._linear() if self.job.model.linear else self._network(run)
        timings = {"reading": self.seconds, "scoring": time.perf_counter() - started}
        return run.finish(scores, notes=self.notes, timings=timings)

    def _linear(self) -> Scores:
        from uniqueinfo.scoring import score_features

        X, X_val = self.features()
        classes = self.classes
        val = self._targets(self.val)
        return score_features(
            X,
            self.train.labels,
            X_val,
            val if val is None or classes is None else classes[val],
            training=self.job.training,
            effects=_EFFECTS,
            ids=self.train.ids,
            columns=self._columns(),
            device=self.job.device,
        )

    def _network(self, run: Run) -> Scores:
        from uniqueinfo.jacobian import Factorized
        from uniqueinfo.networks import score

        train, val = self.samples()
        found = score(
            self.network(),
            train,
            val,
            training=self.job.training,
            projection=None if self.job.projection is None else Factorized(self.job.projection),
            memory=self.job.memory,
            folder=run.shards,
            device=self.job.device,
            effects=_EFFECTS,
            ids=self.train.ids,
            columns=self._columns(),
        )
        classes = None if self.classes is None else self.classes.tolist()
        return replace(found, labels=self.train.labels, settings={**found.settings, "classes": classes})

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


def choose_training(
    name: TrainingName | None, lr: float | None, steps: int | None, momentum: float, weight_decay: float
) -> Training | Literal["auto"]:
    """The training algorithm by name; a rate or a number of steps alone means descent."""
    name = name or ("auto" if lr is None and steps is None else "descent")
    if name in ("auto", "converged") and (lr is not None or steps is not None):
        raise InputError(f"--training {name}: has no --lr and --steps; drop them, or say --training descent")
    if name in ("descent", "flow") and (lr is None or steps is None):
        raise InputError(f"--training {name}: needs --lr and --steps; without both, --training auto chooses them")
    if name != "descent" and momentum:
        raise InputError(f"--training {name}: has no --momentum; drop it, or say --training descent")
    if name == "auto":
        if weight_decay:
            raise InputError("--training auto: has no --weight-decay; say --training descent or converged")
        return "auto"
    if name == "converged":
        return Converged(weight_decay=weight_decay)
    assert lr is not None
    assert steps is not None
    if name == "flow":
        return GradientFlow(lr=lr, time=float(steps), weight_decay=weight_decay)
    return GradientDescent(lr=lr, steps=steps, weight_decay=weight_decay, momentum=momentum)


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _shape(inputs: Any) -> tuple[int, ...]:
    if isinstance(inputs, dict):
        return _shape(next(iter(inputs.values())))
    return tuple(inputs.shape[1:])


def _flat(inputs: Any) -> NDArray[Any]:
    rows = inputs if isinstance(inputs, np.ndarray) else np.stack(list(_each(inputs)))
    return np.column_stack([rows.reshape(len(rows), -1), np.ones(len(rows), dtype=rows.dtype)])


def _each(inputs: Sequence[Any]) -> Iterator[Any]:
    with progress("Reading inputs", len(inputs)) as advance:
        for index in range(len(inputs)):
            yield inputs[index]
            advance(1)
