"""A network and its data as a source: Jacobian rows computed when asked for, or kept on disk from the first time."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save
from torch import nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import OutputSketch, Projection, RowEngine
from uniqueinfo.jacobian.batching import Limited, check_uncoupled, measure, plan_for, working_share
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.samples.datasets import Arrays, map_leaves
from uniqueinfo.samples.samples import Samples, as_targets
from uniqueinfo.samples.stored import Index, portable
from uniqueinfo.scoring.sources import Part
from uniqueinfo.store.files import replacing

_ONE_AT_A_TIME = threading.Lock()  # a pass changes the network while it runs, and a worker may have many threads


@dataclass(frozen=True, eq=False)
class NetworkSource:
    """Samples of a network; made by `of`."""

    model: nn.Module
    data: Samples
    projection: Projection | None
    sketch: OutputSketch | None
    device: str | None
    memory: int
    per_sample: int
    width: int
    classes: int
    batch: int
    seconds: float
    """What the rows of one sample took, here and now."""
    notes: tuple[str, ...]
    keep: Path | None = None
    """The folder where rows stay once computed."""

    columns = 1

    @classmethod
    def of(
        cls,
        model: nn.Module,
        data: Samples,
        projection: Projection | None,
        sketch: OutputSketch | None,
        device: torch.device | str | None,
        memory: int,
    ) -> NetworkSource:
        """Try the network on a few samples: the shape of its rows, how many fit at once, how long they take."""
        with prepared(model, device) as notes:
            engine = RowEngine(model, data.inputs(range(min(2, len(data)))), projection, outputs=sketch)
            first, one = measure(engine, data.read([0]))
            together, two = measure(engine, data.read([0, min(1, len(data) - 1)]))
            check_uncoupled(first, together)
            outputs, width = first.shape[1:]
            batch = plan_for(len(data), outputs, width, one=one, two=two, budget=memory).batch
            limited = Limited(engine, batch, working_share(memory))
            some = data.read(range(min(batch, len(data))))
            limited(some)  # finds how many fit
            started = time.perf_counter()
            limited(some)
            seconds = (time.perf_counter() - started) / min(batch, len(data))
            found = (outputs, width, engine.classes, limited.limit, seconds, tuple(notes))
        place = None if device is None else str(device)
        return cls(model, _portable(data), projection, sketch, place, memory, *found)

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.data)

    def over(self, data: Samples) -> NetworkSource:
        """The same network on other samples."""
        return replace(self, data=_portable(data), keep=None)

    def read(self, index: Index) -> Part:
        """Some of the samples; the rows of a slice are found again in the folder, if they are of these very samples."""
        if self.keep is None or not isinstance(index, slice):
            return self._part(*self._compute(index))
        path = self.keep / f"rows-{index.start:012}-{index.stop:012}.safetensors"
        mark = hashlib.sha256(f"{self._mark} {self.digest(index)}".encode()).hexdigest()
        if path.exists():
            with safe_open(path, framework="numpy") as file:
                if file.metadata() == {"of": mark}:
                    kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
                    return self._part(kept["rows"], kept["outputs"], kept.get("labels"))
        found = self._compute(index)
        self.keep.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            named = zip(("rows", "outputs", "labels"), found, strict=True)
            beside.write_bytes(save({name: array for name, array in named if array is not None}, {"of": mark}))
        return self._part(*found)

    def digest(self, part: slice) -> str:
        """Of the inputs and labels."""
        batches = self.data.batches(self._batches(part), workers=_may_fork())
        return " ".join(batch.digest() for batch in batches)

    def identity(self) -> dict[str, Any]:
        """The network and what its rows are projected on."""
        return {
            "kind": "network",
            "model": fingerprint(self.model),
            "projection": repr(self.projection),
            "outputs": repr(self.sketch),
            "batch": self.batch,
        }

    @cached_property
    def _mark(self) -> str:
        return json.dumps(self.identity(), sort_keys=True)

    def _compute(self, index: Index) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[Any] | None]:
        """Rows, outputs and labels."""
        parts = self._batches(index)
        with _ONE_AT_A_TIME, prepared(self.model, self.device, quiet=True):
            example = self.data.inputs(range(min(2, len(self.data))))
            engine = RowEngine(self.model, example, self.projection, outputs=self.sketch)
            limited = Limited(engine, self.batch, working_share(self.memory))
            limited.trust(self.batch)
            rows = np.empty((sum(map(len, parts)), self.per_sample, self.width), np.float32)
            outputs = np.empty(rows.shape[:2])
            labels: list[Any] = []
            done = 0
            for batch, chosen in zip(self.data.batches(parts, workers=_may_fork()), parts, strict=True):
                place = slice(done, done + len(chosen))
                rows[place], outputs[place] = limited(batch)
                labels.append(batch.labels)
                done += len(chosen)
        for what, values in (("output", outputs), ("Jacobian", rows)):
            fine = np.isfinite(values.reshape(len(values), -1)).all(axis=1)
            if not fine.all():
                sample = np.concatenate([np.asarray(chosen) for chosen in parts])[int(np.argmin(fine))]
                raise InputError(f"the network's {what} for sample {self.data.ids[sample]} is not finite: leave it out")
        return rows, outputs, None if labels[0] is None else np.concatenate(labels)

    def _part(self, rows: NDArray[np.float32], outputs: NDArray[np.float64], labels: NDArray[Any] | None) -> Part:
        device = torch.device(self.device or "cpu")
        start = torch.from_numpy(outputs).to(device)[..., None]
        wide = torch.from_numpy(rows).to(device, torch.float64)
        if labels is None:
            return Part(wide, start, None, None)
        wanted = as_targets(labels, self.classes)
        if self.sketch is not None:
            wanted = wanted @ self.sketch.matrix(self.classes).numpy()
        return Part(wide, start, torch.from_numpy(wanted).to(device)[..., None], labels)

    def _batches(self, index: Index) -> list[Sequence[int]]:
        chosen: Any = range(index.start, index.stop) if isinstance(index, slice) else index.tolist()
        return [chosen[start : start + self.batch] for start in range(0, len(chosen), self.batch)]


def _portable(data: Samples) -> Samples:
    """Memory maps as the names of their files, so that workers open them in place of being sent their contents."""
    if not isinstance(data.source, Arrays):
        return data
    inputs = map_leaves(data.source.inputs, lambda _, array: portable(array))
    return replace(data, source=Arrays(inputs, data.source.labels))


def _may_fork() -> bool:
    """Whether a loader may have workers of its own: those of a cluster may not."""
    return not multiprocessing.current_process().daemon
