"""Where samples come from: arrays in memory, or a data set asked item by item."""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, default_collate

from uniqueinfo.errors import InputError
from uniqueinfo.samples.checks import check_labelled
from uniqueinfo.types import Labels

Inputs: TypeAlias = Tensor | tuple[Tensor, ...] | dict[str, Tensor]
Array: TypeAlias = NDArray[Any] | Tensor

LABEL_COLUMNS = ("label", "labels", "y")


@dataclass(frozen=True, eq=False)
class Arrays:
    """Samples that lie in memory (or in a memory map), one along the first axis of each array."""

    inputs: Array | tuple[Array, ...] | dict[str, Array]
    labels: Labels
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By input, the names of its columns, where it was a table."""

    def __len__(self) -> int:
        return len(next(iter(leaves(self.inputs).values())))

    def batches(self, indices: Iterable[Sequence[int]], *, workers: bool) -> Iterator[tuple[Inputs, Labels]]:
        """Inputs and labels at each of the lists of indices; nothing here for workers to do."""
        for chosen in indices:
            index = np.asarray(chosen)
            inputs = map_leaves(self.inputs, partial(_take, index=index))
            yield as_inputs(inputs), None if self.labels is None else self.labels[index]


@dataclass(frozen=True, eq=False)
class Items:
    """A map-style data set: `order[i]` is where it keeps sample i, `collate` makes batches of its items."""

    dataset: Any
    order: NDArray[np.intp]
    collate: Callable[[list[Any]], Any] = default_collate
    workers: Mapping[str, Any] = field(default_factory=dict)
    lone_column: bool = False  # a dict of one input is that input

    def __len__(self) -> int:
        return len(self.order)

    def batches(self, indices: Iterable[Sequence[int]], *, workers: bool) -> Iterator[tuple[Inputs, Labels]]:
        """Inputs and labels at each of the lists of indices, read ahead by the loader's workers if wished."""
        loader = DataLoader(
            self.dataset,
            batch_sampler=([int(self.order[i]) for i in chosen] for chosen in indices),
            collate_fn=_Collate(self.collate),
            generator=torch.Generator(),  # so that the user's random numbers are not drawn from
            **(self.workers if workers else {}),
        )
        for batch in loader:
            inputs, labels = split(batch)
            if self.lone_column and isinstance(inputs, Mapping) and len(inputs) == 1:
                (inputs,) = inputs.values()
            yield as_inputs(inputs), as_labels(labels)


@dataclass(frozen=True)
class _Collate:
    """The collate function, with its failures put in words; a class so that workers can be sent it."""

    collate: Callable[[list[Any]], Any]

    def __call__(self, items: list[Any]) -> Any:
        try:
            return self.collate(items)
        except (TypeError, ValueError, RuntimeError) as error:
            raise InputError(
                f"{len(items)} samples cannot be put in one batch ({error}): return numbers or tensors "
                "of one shape, or hand over a DataLoader whose collate_fn pads them"
            ) from error


def from_loader(loader: DataLoader[Any]) -> Items:
    """The data set behind a loader, in its own order whatever the loader's is; drop_last is ignored."""
    if isinstance(loader.dataset, IterableDataset) or loader.batch_sampler is None:
        raise InputError(
            "this DataLoader serves a stream or ready-made batches, which have no samples to index: "
            "hand over a map-style data set of single samples, or its loader with a batch_size"
        )
    dataset: Any = loader.dataset
    workers = {
        name: getattr(loader, name)
        for name in ("num_workers", "worker_init_fn", "multiprocessing_context", "timeout", "prefetch_factor")
    }
    lone = is_hugging_face(dataset, "Dataset")
    return Items(dataset, _served(loader, len(dataset)), loader.collate_fn, workers, lone)


def _served(loader: DataLoader[Any], size: int) -> NDArray[np.intp]:
    """The indices a loader serves in an epoch, sorted; refused if they repeat or change between epochs."""
    batches: Any = loader.batch_sampler
    sampler = loader.sampler if loader.batch_size is not None else None  # None: the user's own batch sampler
    advice = "hand over its data set itself, or a torch.utils.data.Subset of it"
    if getattr(sampler, "replacement", False) or getattr(sampler, "num_replicas", 1) > 1:
        raise InputError(f"{type(sampler).__name__} repeats or leaves out samples: {advice}")
    generators = {id(g): g for g in (getattr(s, "generator", None) for s in (loader, sampler, batches)) if g}
    with same_randomness(generators.values()):
        # An endless sampler repeats itself within size + 1 draws.
        epochs = [
            list(islice(chain.from_iterable(batches) if sampler is None else sampler, size + 1)) for _ in range(2)
        ]
    if any(len(set(epoch)) != len(epoch) for epoch in epochs):
        raise InputError(f"the sampler of this DataLoader serves samples more than once: {advice}")
    if set(epochs[0]) != set(epochs[1]):
        raise InputError(f"the sampler of this DataLoader serves other samples in each epoch: {advice}")
    return np.array(sorted(epochs[0]), dtype=np.intp)


@contextmanager
def same_randomness(generators: Iterable[torch.Generator] = ()) -> Iterator[None]:
    """Leave the user's random number generators where they were."""
    states = [(generator, generator.get_state()) for generator in generators]
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 (theirs, not ours)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        for generator, state in states:
            generator.set_state(state)


def is_hugging_face(data: object, kind: str) -> bool:
    """Whether this is a `datasets.<kind>`; a package nobody has imported cannot have made it."""
    package = sys.modules.get("datasets")
    return isinstance(data, getattr(package, kind, ()))


def split(batch: Any) -> tuple[Any, Any]:
    """Take inputs and labels apart: a pair, a dict with a label column, or inputs alone (labels None)."""
    if isinstance(batch, Mapping):
        named = [name for name in LABEL_COLUMNS if name in batch]
        if len(named) > 1:
            raise InputError(f"columns {named} could all be the label: keep one of them")
        inputs = {name: column for name, column in batch.items() if name not in named}
        return inputs, batch[named[0]] if named else None
    if isinstance(batch, tuple | list):
        if len(batch) > 2:
            raise InputError(
                f"{len(batch)} parts where (inputs, label) was expected: give several inputs as ((a, b), label)"
            )
        return batch[0], batch[1] if len(batch) == 2 else None
    return batch, None


def as_inputs(inputs: Any) -> Inputs:
    """Tensors, in the form the network is called with."""
    tensors: Inputs = map_leaves(inputs, _as_tensor)
    return tensors


def as_labels(labels: Any) -> Labels:
    """Labels as an array of integers or floats."""
    if labels is None:
        return None
    if isinstance(labels, Tensor):
        labels = labels.detach().cpu()
        labels = (labels.float() if labels.dtype is torch.bfloat16 else labels).numpy()
    else:
        check_labelled("the labels", labels)
    array = np.asarray(labels)
    if array.dtype.kind not in "buif":
        raise InputError(f"labels are {array.dtype}: give integers for classes or floats for regression")
    return array


def leaves(inputs: Any) -> dict[str, Any]:
    """The arrays of an input by name: `input` alone, `input 0`, `input 1`, … or the names of the dict."""
    if isinstance(inputs, Mapping):
        return {f"input {name!r}": leaf for name, leaf in inputs.items()}
    if isinstance(inputs, tuple | list):
        return {f"input {number}": leaf for number, leaf in enumerate(inputs)}
    return {"input": inputs}


def map_leaves(inputs: Any, function: Callable[[str, Any], Any]) -> Any:
    """The same form with `function(name, array)` in place of each array."""
    done = [function(name, leaf) for name, leaf in leaves(inputs).items()]
    if not done:
        raise InputError("there are no inputs beside the label")
    if isinstance(inputs, Mapping):
        return dict(zip(inputs, done, strict=True))
    return tuple(done) if isinstance(inputs, tuple | list) else done[0]


def _take(_: str, array: Array, *, index: NDArray[np.intp]) -> Array:
    if isinstance(array, Tensor):
        return array.detach()[torch.as_tensor(index, device=array.device)]
    return np.asarray(array[index])


def _as_tensor(name: str, leaf: Any) -> Tensor:
    if isinstance(leaf, Tensor) and not leaf.is_complex():
        return leaf.detach()
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "buif":
        return torch.from_numpy(leaf.astype(leaf.dtype.newbyteorder("="), copy=False))
    kind = type(leaf[0]).__name__ if isinstance(leaf, list) and leaf else type(leaf).__name__
    raise InputError(f"{name} holds {kind}, not numbers: turn it into tensors, or drop it from the data set")
