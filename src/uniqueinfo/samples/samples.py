"""What a user hands over → samples by index, always in the order of the data set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from uniqueinfo.errors import InputError
from uniqueinfo.samples.checks import check_columns, check_finite
from uniqueinfo.samples.datasets import (
    Array,
    Arrays,
    Inputs,
    Items,
    as_labels,
    from_loader,
    is_hugging_face,
    leaves,
    map_leaves,
    same_randomness,
    split,
)
from uniqueinfo.samples.marks import Marks
from uniqueinfo.samples.targets import as_targets
from uniqueinfo.samples.together import joined
from uniqueinfo.types import Labels

_CHUNK = 256  # samples read at once where no memory budget is known
_ASKED_TWICE = 16  # a flip with even odds goes unnoticed once in 2¹⁶ data sets


@dataclass(frozen=True, eq=False)
class Batch:
    """A few samples, collated: what the network is called with, and their labels if there are any."""

    inputs: Inputs
    labels: Labels

    def digest(self) -> str:
        """SHA-256 over names, shapes, dtypes and contents."""
        sha = hashlib.sha256()
        labels = {} if self.labels is None else {"label": torch.from_numpy(self.labels)}
        for name, leaf in (leaves(self.inputs) | labels).items():
            sha.update(f"{name} {leaf.dtype} {tuple(leaf.shape)}\n".encode())
            sha.update(leaf.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples by index, in the order of the data set; made by `as_samples`.

    `ids` are the data set's own indices unless given: they differ from 0…n−1 where a loader serves a subset.
    """

    ids: NDArray[Any]
    source: Arrays | Items
    device: torch.device | None
    dtype: torch.dtype | None
    marks: Marks = field(default_factory=Marks)
    """Of what was read, so that samples that change on the way are noticed."""
    asked: bool = False
    """Whether targets stand among the inputs, for a function that is asked about both; see `with_targets`."""

    def with_targets(self) -> Samples:
        """The same, their targets among the inputs. Of the labels only those of one number each are kept beside."""
        return replace(self, asked=True)

    def __len__(self) -> int:
        return len(self.source)

    def batches(self, indices: Iterable[Sequence[int]], *, workers: bool = True) -> Iterator[Batch]:
        """One checked batch for each list of indices; the loader's workers, if any, read ahead."""
        lists = [list(chosen) for chosen in indices]
        for chosen, (inputs, labels) in zip(lists, self.source.batches(lists, workers=workers), strict=True):
            ids = self.ids[chosen]
            for name, leaf in leaves(inputs).items():
                if len(leaf) != len(chosen):
                    raise InputError(f"{name}: {len(leaf)} in a batch of {len(chosen)} samples")
                if leaf.numel() == 0:
                    raise InputError(f"{name}: samples of shape {tuple(leaf.shape[1:])} hold no number; give some")
                check_finite(name, leaf, ids)
            self.marks.check(chosen, inputs, ids)
            if labels is not None:
                check_finite("the target", labels, ids)
            together = joined(inputs, labels) if self.asked else inputs
            yield Batch(map_leaves(together, self._place), self._kept(labels))

    def read(self, indices: Sequence[int]) -> Batch:
        """The samples at these indices as one batch."""
        (batch,) = self.batches([indices], workers=False)
        return batch

    def inputs(self, indices: Sequence[int]) -> Inputs:
        """What the network is called with for these indices."""
        return self.read(indices).inputs

    @cached_property
    def labels(self) -> Labels:
        """Raw labels (n,) or (n, columns), None if there are none. Reads a data set once through."""
        if isinstance(self.source, Arrays):
            return self._kept(self.source.labels)
        parts = [batch.labels for batch in self.batches(self._chunks())]
        return None if parts[0] is None else np.concatenate(parts)  # type: ignore[arg-type]

    def targets(self, outputs: int) -> NDArray[np.float64]:
        """What the outputs are trained towards, (n, outputs)."""
        if self.labels is None:
            raise InputError("these samples have no labels: hand over (inputs, labels)")
        return as_targets(self.labels, outputs, ids=list(self.ids))

    def fingerprint(self) -> str:
        """SHA-256 of all samples, in their order."""
        sha = hashlib.sha256()
        for batch in self.batches(self._chunks()):
            sha.update(batch.digest().encode())
        return sha.hexdigest()

    def glance(self, *, labelled: bool = True) -> str:
        """SHA-256 of how many samples there are, and of a few of them, spread over all, as the network is given them.

        Enough to tell another data set, at the cost of reading these few; one sample among others may have changed.
        """
        sha = hashlib.sha256(f"{len(self)}\n".encode())
        for index in _spread(len(self)):
            batch = self.read([index])
            labels = None if batch.labels is None or not labelled else batch.labels.astype(np.float64)
            sha.update(Batch(batch.inputs, labels).digest().encode())
        return sha.hexdigest()

    def _kept(self, labels: Labels) -> Labels:
        """Targets of a function may be of any shape, and of another one in every batch."""
        return None if self.asked and labels is not None and labels.ndim > 1 else labels

    def _place(self, _: str, leaf: Tensor) -> Tensor:
        return leaf.to(device=self.device, dtype=self.dtype if leaf.is_floating_point() else None)

    def _chunks(self) -> list[range]:
        return [range(a, min(a + _CHUNK, len(self))) for a in range(0, len(self), _CHUNK)]


def as_samples(
    data: Any,
    *,
    ids: ArrayLike | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
    like: Samples | None = None,
) -> Samples:
    """Index what a user hands over; inputs go to `device`, floating ones to `dtype`, when they are read.

    Where both these and the samples `like` are tables, columns come in the order of the latter, by their names.

    - a map-style Dataset (or list) of `(inputs, label)`, of dicts with a label column, or of inputs alone;
    - a DataLoader: its data set in the data set's order, with its collate function and its workers;
    - a Hugging Face dataset, the label in a column `label`, `labels` or `y`, every other column an input;
    - arrays: `(X, y)`, `(X, None)`, `X`, or a dict of columns. `X`: an array, a tuple or a dict of arrays.

    >>> samples = as_samples((np.eye(3), [2, 0, 1]))
    >>> samples.targets(3).argmax(axis=1).tolist()
    [2, 0, 1]
    """
    source = _source(data, {} if like is None or not isinstance(like.source, Arrays) else like.source.columns)
    if len(source) == 0:
        raise InputError("the data set is empty; give at least one sample")
    own = source.order if isinstance(source, Items) else np.arange(len(source))
    names = own if ids is None else np.asarray(ids)
    if names.shape != (len(source),):
        raise InputError(f"{names.shape} ids for {len(source)} samples: give one for each")
    samples = Samples(names, source, None if device is None else torch.device(device), dtype)
    if isinstance(source, Arrays):
        for _ in samples.batches(samples._chunks()):  # finds what is not finite before the long work starts
            pass
    else:
        _check_repeatable(samples)
    return samples


def _source(data: Any, columns: Mapping[str, tuple[str, ...]]) -> Arrays | Items:
    if isinstance(data, DataLoader):
        return from_loader(data)
    if isinstance(data, IterableDataset) or is_hugging_face(data, "IterableDataset"):
        raise InputError("an iterable data set has no order to give scores in: hand over a map-style data set")
    if is_hugging_face(data, "DatasetDict"):
        raise InputError(f"this holds several data sets: choose one of {sorted(data)}")
    if is_hugging_face(data, "Dataset"):
        if data.format["type"] not in ("torch", "numpy", "custom"):
            data = data.with_format("torch", columns=data.format["columns"])
        return Items(data, np.arange(len(data)), lone_column=True)
    if isinstance(data, tuple | Mapping) or _is_array(data):
        return _arrays(*split(data), columns)
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, str | bytes):
        return Items(data, np.arange(len(data)))
    raise InputError(
        f"{type(data).__name__} is not a data set: hand over a torch Dataset of (x, y), a pair of arrays, "
        "a DataLoader or a Hugging Face dataset"
    )


def _arrays(inputs: Any, labels: Any, known: Mapping[str, tuple[str, ...]]) -> Arrays:
    """`known`: by input, the columns of the samples that these are to be like."""
    tables = {name: leaf for name, leaf in leaves(inputs).items() if isinstance(leaf, pd.DataFrame)}
    for name, table in tables.items():
        check_columns(name, table.columns, known.get(name, table.columns), "the training samples")
    columns = {name: known.get(name, tuple(map(str, table.columns))) for name, table in tables.items()}
    inputs = map_leaves(inputs, partial(_as_array, columns=columns))
    labels = as_labels(labels)
    sizes = {name: len(array) for name, array in leaves(inputs).items()}
    sizes |= {} if labels is None else {"label": len(labels)}
    if len(set(sizes.values())) > 1:
        raise InputError(f"inputs and labels differ in length: {sizes}")
    return Arrays(inputs, labels, columns)


def _as_array(name: str, data: Any, *, columns: Mapping[str, tuple[str, ...]]) -> Array:
    if name in columns:
        data = data.rename(columns=str)[list(columns[name])]
    if not _is_array(data) or data.ndim == 0:
        raise InputError(f"{name} is {type(data).__name__}, not an array; hand one over, with a sample in each row")
    return data if isinstance(data, Tensor) else np.asarray(data)


def _is_array(data: Any) -> bool:
    return isinstance(data, Tensor) or hasattr(data, "__array__")


def _check_repeatable(samples: Samples) -> None:
    with same_randomness():
        for index in _spread(len(samples)):
            if samples.read([index]).digest() != samples.read([index]).digest():
                raise InputError(
                    f"sample {samples.ids[index]} is something else the second time it is asked: "
                    "switch random augmentation off, for a score belongs to one fixed sample"
                )


def _spread(count: int) -> list[int]:
    """A few of so many, both ends among them."""
    found: list[int] = np.unique(np.linspace(0, count - 1, _ASKED_TWICE).astype(int)).tolist()
    return found
