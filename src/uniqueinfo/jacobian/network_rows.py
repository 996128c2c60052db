"""Jacobian rows of a data set: computed piece by piece when they are asked for, and kept as told."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.jacobian.batching import Cut, Limited, check_uncoupled, measure, plan_for, same_rows, working_share
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.jacobian.keeping import KIND, Computed, Keeper, OnDisk
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.checks import check_finite
from uniqueinfo.samples.datasets import Arrays, map_leaves
from uniqueinfo.samples.samples import Samples
from uniqueinfo.samples.stored import portable
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.types import Index

logger = logging.getLogger(__name__)

_TIMED = 8  # samples whose rows tell how long those of one take: enough for a network to be used as it will be
_ONE_AT_A_TIME = threading.Lock()  # a pass changes the network while it runs, and a worker may have many threads


@dataclass(frozen=True, eq=False)
class Differentiated:
    """A network, and what of its gradients is wanted."""

    model: nn.Module
    projection: Projection | None
    outputs: Outputs | None
    device: torch.device | str | None
    memory: int
    """Bytes; half of them are for a batch on its way through the network."""

    @cached_property
    def _engines(self) -> WeakKeyDictionary[Samples, RowEngine]:
        return WeakKeyDictionary()

    def engine(self, samples: Samples) -> RowEngine:
        """What computes rows; the network must be prepared. How it works is tried once for each data set."""
        if samples not in self._engines:
            example = samples.inputs(range(min(2, len(samples))))
            self._engines[samples] = RowEngine(self.model, example, self.projection, outputs=self.outputs)
        return self._engines[samples]

    def __getstate__(self) -> dict[str, Any]:
        """What others need: they try the network themselves."""
        return {name: value for name, value in vars(self).items() if name != "_engines"}

    def identity(self) -> dict[str, Any]:
        """What rows depend on beside the samples."""
        return {
            "model": fingerprint(self.model),
            "projection": repr(self.projection),
            "outputs": repr(self.outputs),
        }


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """The rows of one data set, (n, k, D) in float32; made by `of`."""

    network: Differentiated
    data: Samples
    per_sample: int
    """k."""
    width: int
    """D."""
    classes: int
    """How many outputs the network itself has, before any mixing."""
    cut: Cut
    notes: tuple[str, ...]
    paths: Mapping[str, str]
    """Which way each parameter's part was computed: a layer rule's name, or "generic"."""
    keeper: Keeper | None = None
    """None computes rows whenever they are asked for."""
    trusted: bool = False
    """Whether what the keeper has is surely of these samples, so that they need not be looked at to know."""
    fitting: dict[str, int] = field(default_factory=dict)
    """How many samples proved to fit in memory at once."""

    @classmethod
    def of(cls, network: Differentiated, data: Samples) -> NetworkRows:
        """Try the network on a few samples: the shape of its rows, how many fit at once, how long they take."""
        with prepared(network.model, network.device) as notes:
            engine = network.engine(data)
            first, one = measure(engine, data.read([0]))
            together, two = measure(engine, data.read([0, min(1, len(data) - 1)]))
            for found, names in ((first, data.ids[:1]), (together[1:], data.ids[1:2])):
                check_finite("the network's Jacobian", found, names)
            check_uncoupled(first, together)
            outputs, width = first.shape[1:]
            cut = plan_for(len(data), 4 * outputs * width, one=one, two=two, budget=network.memory)
        return cls(
            network=network,
            data=_portable(data),
            per_sample=outputs,
            width=width,
            classes=engine.classes,
            cut=cut,
            notes=tuple(notes),
            paths=engine.paths,
        )

    @cached_property
    def seconds(self) -> float:
        """What the rows of one sample take, by those of a few, here and now."""
        count = min(_TIMED, self.cut.batch, len(self.data))
        with prepared(self.network.model, self.network.device, quiet=True):
            engine, inputs = self.network.engine(self.data), self.data.inputs(range(count))
            started = time.perf_counter()
            engine(inputs)
            return (time.perf_counter() - started) / count

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of all rows."""
        return len(self.data), self.per_sample, self.width

    @property
    def columns(self) -> int:
        """Outputs that share a row."""
        return self.classes if self.network.outputs is not None and self.network.outputs.alike else 1

    @property
    def sides(self) -> tuple[int, int]:
        """Rows (nk) and columns (D) of all of them below one another."""
        return len(self.data) * self.per_sample, self.width

    @property
    def bytes(self) -> int:
        """Of all rows."""
        return 4 * int(np.prod(self.shape))

    def over(self, data: Samples) -> NetworkRows:
        """The same network on other samples."""
        return replace(self, data=_portable(data), keeper=None)

    def kept(self, keeper: Keeper) -> NetworkRows:
        """The same, once computed kept by this keeper."""
        return replace(self, keeper=keeper)

    def kept_on_disk(self, folder: Path, *, trusted: bool = False) -> NetworkRows:
        """The same, kept in a folder; an earlier run's rows are found again there, cut as they were.

        Unless the folder is `trusted` to be of these samples, every piece is held against them.
        """
        owned = OwnedFolder.open(folder, KIND, {})
        owner = owned.owner() or {}
        mine: dict[str, Any] = {"cut": {"piece": self.cut.piece, "batch": self.cut.batch}, "shape": list(self.shape)}
        found = replace(self, trusted=trusted)
        cut = owner.get("cut")
        if owner.get("shape") == mine["shape"] and isinstance(cut, dict) and cut.keys() == mine["cut"].keys():
            found = replace(found, cut=Cut(**cut))
        else:
            owned.remove("rows-*")
            owned.note(mine)
        kept = OnDisk(owned)
        begun = kept.get(0, lambda: found._mark(0))
        if begun is not None and not same_rows(begun.rows[0], self._compute_with(self.data, [0]).rows[0]):
            # A fingerprint does not see the code of the network; its first row does.
            logger.warning("the rows in %s are of another network: computing them anew", folder)
            owned.remove("rows-*")
        return replace(found, keeper=kept)

    def __getitem__(self, index: Index) -> NDArray[np.float32]:
        return self.read(index).rows

    def read(self, index: Index) -> Computed:
        """Rows, outputs and labels of some samples."""
        chosen = np.arange(len(self.data))[index]
        if self.keeper is None:
            return self._compute_with(self.data, chosen.tolist())
        owners = chosen // self.cut.piece
        parts = [(number, np.flatnonzero(owners == number)) for number in np.unique(owners).tolist()]
        if (
            len(parts) == 1
            and len(chosen) == len(self._piece_range(parts[0][0]))
            and bool((np.diff(chosen) == 1).all())
        ):
            return self.piece(parts[0][0])
        pieces = [(at, self.piece(number), chosen[at] - number * self.cut.piece) for number, at in parts]
        rows = np.empty((len(chosen), self.per_sample, self.width), np.float32)
        outputs = np.empty((len(chosen), self.per_sample * self.columns))
        some = pieces[0][1].labels if pieces else None
        labels = None if some is None else np.empty((len(chosen), *some.shape[1:]), some.dtype)
        for at, piece, places in pieces:
            rows[at], outputs[at] = piece.rows[places], piece.outputs[places]
            if labels is not None and piece.labels is not None:
                labels[at] = piece.labels[places]
        return Computed(rows, outputs, labels)

    def piece(self, number: int) -> Computed:
        """One piece: found again, or computed and kept."""
        found = None if self.keeper is None else self.keeper.get(number, lambda: self._mark(number))
        if found is None:
            found = self._compute_with(self.data, self._piece_range(number))
            if self.keeper is not None:
                self.keeper.put(number, lambda: self._mark(number), found)
        return found

    def pieces(self) -> Iterator[slice]:
        """The samples of each piece."""
        for start in range(0, len(self.data), self.cut.piece):
            yield slice(start, min(start + self.cut.piece, len(self.data)))

    def digest(self, part: slice) -> str:
        """Of the inputs and labels."""
        lists = self._batches(range(part.start, part.stop))
        return " ".join(batch.digest() for batch in self.data.batches(lists, workers=_may_fork()))

    def identity(self) -> dict[str, Any]:
        """What the rows depend on beside the samples."""
        return {"kind": "network", **self.network.identity(), "batch": self.cut.batch}

    @cached_property
    def _about(self) -> str:
        return json.dumps(self.identity(), sort_keys=True)

    def _mark(self, number: int) -> str:
        chosen = self._piece_range(number)
        of = "" if self.trusted else self.digest(slice(chosen.start, chosen.stop))
        return hashlib.sha256(f"{self._about} {of}".encode()).hexdigest()

    def _piece_range(self, number: int) -> range:
        start = number * self.cut.piece
        return range(start, min(start + self.cut.piece, len(self.data)))

    def _compute_with(self, data: Samples, chosen: Sequence[int]) -> Computed:
        parts, network = self._batches(chosen), self.network
        rows = np.empty((len(chosen), self.per_sample, self.width), np.float32)
        outputs = np.empty((len(chosen), self.per_sample * self.columns))
        labels: list[Any] = []
        with _ONE_AT_A_TIME, prepared(network.model, network.device, quiet=True):
            limited = Limited(network.engine(data), self.cut.batch, working_share(network.memory))
            if "batch" in self.fitting:
                limited.trust(self.fitting["batch"])
            done = 0
            for batch, some in zip(data.batches(parts, workers=_may_fork()), parts, strict=True):
                place = slice(done, done + len(some))
                rows[place], outputs[place] = limited(batch)
                labels.append(batch.labels)
                done += len(some)
            if len(parts[0]) == self.cut.batch:  # fewer prove nothing
                self.fitting["batch"] = limited.limit
        names = data.ids[np.asarray(chosen, dtype=np.intp)]
        check_finite("the network's output", outputs, names)
        check_finite("the network's Jacobian", rows, names)
        return Computed(rows, outputs, None if labels[0] is None else np.concatenate(labels))

    def _batches(self, chosen: Sequence[int]) -> list[Sequence[int]]:
        return [chosen[start : start + self.cut.batch] for start in range(0, len(chosen), self.cut.batch)]


def _portable(data: Samples) -> Samples:
    """Memory maps as the names of their files, so that workers open them in place of being sent their contents."""
    if not isinstance(data.source, Arrays):
        return data
    inputs = map_leaves(data.source.inputs, lambda _, array: portable(array))
    return replace(data, source=replace(data.source, inputs=inputs))


def _may_fork() -> bool:
    """Whether a loader may have workers of its own: those of a cluster may not."""
    return not multiprocessing.current_process().daemon
