"""One scoring job as a person asks for it: files and names in, scores in a run folder out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import Prepared, shape
from uniqueinfo.runs.readers import Data, Reading, hold_out, read
from uniqueinfo.runs.readers.labels import check_known
from uniqueinfo.training import Converged, GradientDescent, GradientFlow, Training

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
    engine: str | None = None
    """Where partitions are worked on, `local` or `dask`; None takes all samples at once."""
    scheduler: str | None = None
    sketch: int | None = None
    """Directions kept exactly where there are too many to decompose; None decomposes all."""

    def prepare(self) -> Prepared:
        """Read and check everything; what follows is computation."""
        started = time.perf_counter()
        train, val, notes = self.read()
        train, val = self._encoded(train, val)
        if shape(train.inputs) != shape(val.inputs):
            raise InputError(
                f"{self.val}: samples are of shape {shape(val.inputs)}, and those of {self.train} of shape "
                f"{shape(train.inputs)}; make them alike"
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
        model: dict[str, Any] = {"name": self.model.name, "pretrained": self.model.pretrained}
        return {
            "reading": asdict(self.reading),
            "model": model | ({"centred": True} if self.model.centred else {}),
            "training": "auto" if training == "auto" else training.settings(),
            "projection": self.projection,
            "sketch": self.sketch,
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
            projection=settings["projection"],
            sketch=settings.get("sketch"),
            holdout=settings["holdout"] or 0.2,
            seed=settings["seed"],
        )

    def with_model(self, record: Mapping[str, Any]) -> Job:
        """The same job with the network of a run.json."""
        paths, model = record["paths"], record["settings"]["model"]
        weights, trained = (paths.get(name) and Path(paths[name]) for name in ("weights", "trained"))
        centred = model.get("centred", False)
        return replace(self, model=ModelChoice(paths["model"], weights, model["pretrained"], trained, centred))

    def _encoded(self, train: Data, val: Data) -> tuple[Data, Data]:
        if not hasattr(train.inputs, "iloc"):
            return train, val
        where = self.val or self.train
        if self.model.reads_text:
            return self._tokenized(train, val)
        from uniqueinfo.runs.readers.columns import TableEncoding

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
