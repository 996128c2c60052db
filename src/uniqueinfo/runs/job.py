"""One scoring job as a person asks for it: files and names in, scores in a run folder out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from uniqueinfo.linearization.effort import DEFAULT, seconds_of
from uniqueinfo.memory import as_bytes
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.readers import Data, Reading, hold_out, read
from uniqueinfo.runs.readers.labels import check_known
from uniqueinfo.training import Auto, Training


@dataclass(frozen=True)
class Job:
    """What to score, with which network, trained how."""

    train: Path
    model: ModelChoice
    val: Path | None = None
    reading: Reading = field(default_factory=Reading)
    training: Training = field(default_factory=Auto)
    projection: int | Literal["auto"] | None = "auto"
    """Columns kept of each parameter; None keeps all, "auto" while that is cheap."""
    holdout: float = 0.2
    """Share of the training samples to validate on where there is no `val`."""
    seed: int = 0
    device: str | None = None
    memory: str | None = None
    threads: int | None = None
    """How many to use; None: as many as processors are free."""
    engine: str | None = None
    """Where partitions are worked on, `local` or `dask`."""
    scheduler: str | None = None
    notes: tuple[str, ...] = ()
    """What a person should know about what was chosen for them."""
    sketch: int | None = None
    """Directions kept exactly where there are too many to decompose; None decomposes all."""
    effort: str = DEFAULT
    """What it may take: by name, or a time."""

    def __post_init__(self) -> None:
        if self.memory is not None:
            as_bytes(self.memory)  # refused before anything is read
        seconds_of(self.effort)

    def read(self) -> tuple[Data, Data, tuple[str, ...]]:
        """Training and validation samples as they stand in the files, and what to know about them."""
        found = read(self.train, self.reading)
        labels = found.labels
        if labels is None or self.reading.task == "generation":
            labels = np.zeros(len(found))  # nothing to be held out a share of
        if self.val is None:
            chosen, held = hold_out(labels, self.holdout, self.seed, self.train)
            how = "at random" if labels.dtype.kind == "f" or labels.ndim > 1 else "a share of each class"
            note = f"no validation data named: {len(held)} of the {len(found)} samples ({how}) are held out for it"
            return found.take(chosen), found.take(held), (*self.notes, *found.notes, note)
        val = read(self.val, self.reading.like(found), labelled=False)
        if self.reading.task == "generation":
            return found, val, (*self.notes, *found.notes, *val.notes)
        check_known(self.val, val.labels, labels, val.ids)
        unlabelled = "the validation data has no labels: information is computed, the value of samples is not"
        told = [unlabelled] if val.labels is None else []
        return found, val, (*self.notes, *found.notes, *val.notes, *told)

    def settings(self) -> dict[str, Any]:
        """Everything asked for that the scores depend on, for run.json."""
        model: dict[str, Any] = {"name": self.model.name, "pretrained": self.model.pretrained}
        return {
            "reading": self.reading.settings(),
            "model": model | ({"centred": True} if self.model.centred else {}),
            "training": self.training.settings(),
            "projection": self.projection,
            "sketch": self.sketch,
            "effort": self.effort if self.projection == "auto" else None,
            "memory": self.memory if self.projection == "auto" else None,  # the choice may hang on it
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
            reading=Reading(**{**settings["reading"], "extra": tuple(settings["reading"]["extra"])}),
            training=Training.from_settings(settings["training"]),
            projection=settings["projection"],
            holdout=settings["holdout"] or 0.2,
            seed=settings["seed"],
            memory=settings["memory"],
            sketch=settings["sketch"],
            effort=settings["effort"] or DEFAULT,
        )

    def with_model(self, record: Mapping[str, Any]) -> Job:
        """The same job with the network of a run.json."""
        paths, model = record["paths"], record["settings"]["model"]
        weights, trained = (paths.get(name) and Path(paths[name]) for name in ("weights", "trained"))
        choice = ModelChoice(
            paths["model"],
            weights,
            model["pretrained"],
            trained=trained,
            centred=model.get("centred", False),
            generates=self.reading.task == "generation",
        )
        return replace(self, model=choice)
