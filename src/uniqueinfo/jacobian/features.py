"""The pass over the data: Jacobian rows and outputs of every sample, once, within a memory budget."""

import hashlib
import logging
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.batching import (
    Engine,
    Limited,
    check_uncoupled,
    measure,
    plan_for,
    same_rows,
    working_share,
)
from uniqueinfo.jacobian.shards import Entry, Index, Plan, ShardStore
from uniqueinfo.memory import as_bytes, as_text
from uniqueinfo.progress import progress as bar
from uniqueinfo.samples.datasets import Arrays, Labels
from uniqueinfo.samples.samples import Batch, Samples, as_targets

logger = logging.getLogger(__name__)


class Rows(Protocol):
    """An array (n, k, D) of float32, in memory or on disk: give it a slice or an array of indices."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, k, D)."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the rows are made of: float32."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: Index, /) -> NDArray[np.float32]: ...


@dataclass(frozen=True, eq=False)
class Features:
    """Rows (n, k, D), outputs (n, k), raw labels and ids of all samples, in the order of the data set."""

    rows: Rows
    outputs: NDArray[np.float64]
    labels: Labels
    ids: NDArray[Any]
    close: Callable[[], object]  # removes a temporary folder; done too when nothing refers to the rows

    def targets(self, outputs: int | None = None) -> NDArray[np.float64]:
        """What the network's outputs are trained towards; as many columns as there are outputs."""
        if self.labels is None:
            raise InputError("these samples have no labels: hand over (inputs, labels)")
        return as_targets(self.labels, outputs or self.outputs.shape[1], ids=list(self.ids))


class _InMemory:
    """The face of a `ShardStore` for rows that need no disk."""

    def __init__(self, plan: Plan) -> None:
        self._shards = plan.shards()
        self._rows = np.empty(plan.shape, np.float32)
        self._outputs = np.empty(plan.shape[:2], np.float64)

    def whole(self, number: int) -> Entry | None:
        return None

    def write(
        self, number: int, rows: NDArray[np.float32], outputs: NDArray[np.float64], data: str, limit: int
    ) -> None:
        shard = self._shards[number]
        self._rows[shard.start : shard.stop] = rows
        self._outputs[shard.start : shard.stop] = outputs

    def rows(self) -> NDArray[np.float32]:
        return self._rows

    def outputs(self) -> NDArray[np.float64]:
        return self._outputs


def compute_features(
    engine: Engine,
    samples: Samples,
    *,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    classes: int | None = None,
    progress: bool = True,
) -> Features:
    """Jacobian rows of every sample.

    Rows stay in memory if they take at most half of the budget `memory`; the other half is for the pass.
    Otherwise, and always when a `folder` is named, they go to disk in shards. The same call on the folder of
    a killed run goes on from its last whole shard, and ends with the same bytes. `settings` say what the rows
    are of (the network's fingerprint, the projection, its seed): shards of other settings, of other samples,
    or damaged, are computed anew. `classes`: how many outputs the labels are for, if not the engine's.
    """
    budget = as_bytes(memory)
    first, one = measure(engine, samples.read([0]))
    outputs, width = first.shape[1:]
    classes = classes or outputs
    if isinstance(samples.source, Arrays) and samples.labels is not None:
        samples.targets(classes)  # finds a wrong label before the long work starts
    kept = None if folder is None else ShardStore(Path(folder), settings or {})
    plan = None if kept is None else _resumed(kept, (len(samples), outputs, width), first)
    if plan is None:
        together, two = measure(engine, samples.read([0, min(1, len(samples) - 1)]))
        check_uncoupled(first, together)
        plan = plan_for(len(samples), outputs, width, one=one, two=two, budget=budget)
        if kept is not None:
            kept.begin(plan)
    size = 4 * int(np.prod(plan.shape))
    temporary = None
    store: ShardStore | _InMemory
    if kept is not None:
        store = kept
    elif size <= budget // 2:
        store = _InMemory(plan)
    else:
        temporary = Path(tempfile.mkdtemp(prefix="uniqueinfo-"))
        store = ShardStore(temporary, {})
        store.begin(plan)
    try:
        if isinstance(store, ShardStore):
            _check_space(store, size)
        limited = Limited(engine, plan.batch, working_share(budget))
        with bar("Jacobian rows", len(samples), show=progress) as advance:
            labels = _pass(limited, samples, plan, store, classes, kept is not None, advance)
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary)
        raise
    rows = store.rows()
    close = _nothing if temporary is None else weakref.finalize(rows, shutil.rmtree, temporary)
    return Features(rows, store.outputs(), labels, samples.ids, close)


def _resumed(store: ShardStore, shape: tuple[int, int, int], first: NDArray[np.float32]) -> Plan | None:
    """The plan of an earlier run, if its first row is what the engine gives now."""
    if store.plan is None or store.plan.shape != shape:
        return None
    # A fingerprint does not see the code of the network; its first row does.
    if store.whole(0) is not None and not same_rows(store.rows()[0], first[0]):
        logger.warning("the rows in %s are of another network: computing them anew", store.folder)
        return None
    return store.plan


def _check_space(store: ShardStore, size: int) -> None:
    left = size - sum(path.stat().st_size for path in store.folder.iterdir())
    free = shutil.disk_usage(store.folder).free
    if left > free:
        raise InputError(
            f"the Jacobian rows take {as_text(left)} more and {store.folder} has {as_text(free)} free: name "
            "another folder, or project on fewer columns"
        )


def _pass(
    engine: Limited,
    samples: Samples,
    plan: Plan,
    store: ShardStore | _InMemory,
    classes: int,
    hashing: bool,
    advance: Callable[[int], None],
) -> Labels:
    """Read every sample once, compute the shards that are not there yet; the labels met on the way."""
    shards = plan.shards()
    ahead = samples.batches([batch for shard in shards for batch in plan.batches(shard)])
    labels: list[Labels] = []
    for number, shard in enumerate(shards):
        batches = plan.batches(shard)
        reading = _Reading(islice(ahead, len(batches)), hashing)
        entry = store.whole(number)
        if entry is not None:
            engine.trust(entry.limit)
            deque(reading, maxlen=0)
            if reading.digest() == entry.data:
                labels += reading.labels
                advance(len(shard))
                continue
            reading = _Reading(samples.batches(batches), hashing)
        rows = np.empty((len(shard), *plan.shape[1:]), np.float32)
        outputs = np.empty((len(shard), plan.outputs), np.float64)
        for chosen, batch in zip(batches, reading, strict=True):
            ids = samples.ids[chosen.start : chosen.stop]
            if batch.labels is not None:
                as_targets(batch.labels, classes, ids=list(ids))
            place = slice(chosen.start - shard.start, chosen.stop - shard.start)
            rows[place], outputs[place] = engine(batch)
            _check_finite("output", outputs[place], ids)
            _check_finite("Jacobian", rows[place], ids)
            advance(len(chosen))
        store.write(number, rows, outputs, reading.digest(), engine.limit)
        labels += reading.labels
    return None if labels[0] is None else np.concatenate(labels)  # type: ignore[arg-type]


class _Reading:
    """Batches passing through, with their labels and, if wished, a digest of all that passed."""

    def __init__(self, batches: Iterable[Batch], hashing: bool) -> None:
        self.labels: list[Labels] = []
        self._batches = batches
        self._sha = hashlib.sha256()
        self._hashing = hashing

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._batches:
            self.labels.append(batch.labels)
            if self._hashing:
                self._sha.update(batch.digest().encode())
            yield batch

    def digest(self) -> str:
        return self._sha.hexdigest()


def _check_finite(what: str, values: NDArray[Any], ids: NDArray[Any]) -> None:
    if not (finite := np.isfinite(values)).all():
        first = int(np.argmin(finite.reshape(len(values), -1).all(axis=1)))
        raise InputError(f"the network's {what} for sample {ids[first]} is not finite: mend or leave it out")


def _nothing() -> None:
    """Close rows that lie in memory or in the user's own folder."""
