"""What every loader gives: parts of labelled samples, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Indices = NDArray[np.int64]


class Inputs(Protocol):
    """Samples by index: pictures, or texts."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...

    def take(self, indices: Indices, /) -> Self:
        """Those at these indices, in their order."""

    def digest(self) -> str:
        """SHA-256 of the contents."""


T = TypeVar("T", bound=Inputs, covariant=True)


@dataclass(frozen=True, eq=False)
class Part(Generic[T]):
    """Samples with the numbers of their classes and their names in the source."""

    inputs: T
    labels: Indices
    names: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: Any) -> Part[T]:
        """Some of the samples, by index or by a mask."""
        chosen = np.arange(len(self))[indices]
        return Part(self.inputs.take(chosen), self.labels[chosen], self.names[chosen])

    def draw(self, count: int, seed: int = 0) -> Part[T]:
        """At most this many samples, drawn at random; their order is kept."""
        if count >= len(self):
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(len(self), count, replace=False)))

    def frame(self, columns: Mapping[str, Any]) -> pd.DataFrame:
        """One row per sample: its name, then these columns; a single value stands in every row."""
        return pd.DataFrame({"name": self.names, **columns})

    def relabelled(self, labels: Indices) -> Part[T]:
        """The same samples with other labels."""
        return replace(self, labels=labels)


@dataclass(frozen=True, eq=False)
class Dataset(Generic[T]):
    """Parts (train, val, sometimes test) of one data set."""

    name: str
    parts: Mapping[str, Part[T]]
    classes: tuple[str, ...]
    """What the labels number."""

    def __getitem__(self, part: str) -> Part[T]:
        return self.parts[part]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all samples and labels, in their order."""
        sha = hashlib.sha256()
        for name, part in self.parts.items():
            sha.update(f"{name} {len(part)} {part.inputs.digest()}\n".encode())
            sha.update(np.ascontiguousarray(part.labels, "<i8").data)
        return sha.hexdigest()


def split_in_two(part: Part[T], first: int, second: int, seed: int) -> tuple[Part[T], Part[T]]:
    """Two disjoint random parts, of at most these sizes; where there are too few samples, of about equal share."""
    share = min(first, round(len(part) * first / (first + second)))
    order = np.random.default_rng(seed).permutation(len(part))
    return part.take(order[:share]), part.take(order[share : share + second])
