"""Where the samples of a problem are read from, some at a time: rows, initial outputs, targets.

A source can be sent to other processes, and gives the same chunk again whenever it is asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.types import Index, Labels


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some samples, read."""

    rows: Tensor | None
    """(samples, per_sample, width); None where they were not asked for, or only the kernel is known."""
    initial: Tensor
    """Outputs at the start, (samples, per_sample, columns)."""
    targets: Tensor | None = None
    """Of the same shape."""
    labels: Labels = None
    along: Tensor | None = None
    """Outputs at the checkpoints of a training that happened, (points, samples, per_sample, columns)."""
    difference: Tensor | None = None
    """Targets − initial outputs, where that is what was given."""

    @property
    def residual(self) -> Tensor:
        """Targets − initial outputs."""
        assert self.targets is not None
        return self.targets - self.initial if self.difference is None else self.difference


class Source(ABC):
    """Samples by their numbers."""

    piece: int | None = None
    """How many samples are read together at their cheapest; None where any number is as good."""
    head: bool = False
    """Whether outputs share their rows: a linear head on features."""

    @property
    @abstractmethod
    def samples(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def per_sample(self) -> int:
        """Rows of one sample."""

    @property
    @abstractmethod
    def width(self) -> int | None:
        """D: columns of a row; None where only the kernel is known."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Outputs that share a row."""

    @abstractmethod
    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Some of the samples; `rows=False` where their rows are not needed."""

    @abstractmethod
    def digest(self, part: slice) -> str:
        """SHA-256 of what these samples are made from."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What else the rows depend on."""

    def rows(self) -> Rows:
        """All rows, read when they are asked for."""
        return Rows(_RowsOf(self), self.device)

    def probe(self, system: Eigensystem) -> Probe:
        """All samples, looked at from an eigensystem."""
        found = self.read(slice(0, self.samples), rows=False)
        return Probe(system, self.rows(), found.initial, found.targets)

    @property
    def device(self) -> torch.device:
        """Where chunks lie."""
        return torch.device("cpu")


@dataclass(frozen=True, eq=False)
class _RowsOf:
    """The rows of a source, as an array of them."""

    source: Source

    @property
    def shape(self) -> tuple[int, ...]:
        source = self.source
        assert source.width is not None
        return (source.samples, source.width) if source.head else (source.samples, source.per_sample, source.width)

    def __getitem__(self, index: Index) -> Any:
        found = self.source.read(index).rows
        assert found is not None
        return found
