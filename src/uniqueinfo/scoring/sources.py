"""Sources made of arrays: features and their labels, Jacobian rows and their residuals, or a linearization."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.source import Chunk, Source
from uniqueinfo.samples.checks import check_finite
from uniqueinfo.samples.frames import FrameColumns
from uniqueinfo.samples.targets import Encoding
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows, RowSource, WithConstant
from uniqueinfo.types import Floats, Index, Labels


@dataclass(frozen=True, eq=False)
class FeatureSource(Source):
    """Features (n, p) and labels (n,) of a linear head."""

    X: RowSource
    y: Any
    encoding: Encoding
    start: Floats
    """Outputs of the head before training, (outputs,)."""
    intercept: float
    """What stands in one more column of the features; 0 where the head has no intercept."""
    name: str = "X"
    label: str = "y"
    place: torch.device | None = None
    checked: bool = False
    """Whether every feature was looked at before; else each is when it is read."""
    table: FrameColumns | None = None
    """The columns by their names, where they have any."""

    head = True
    per_sample = 1

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """Features, and one for the intercept."""
        return int(self.X.shape[1]) + (self.intercept != 0)

    @property
    def columns(self) -> int:
        """Outputs: they share their features."""
        return len(self.start)

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Some of the samples."""
        found = None
        if rows:
            source = WithConstant(self.X, self.intercept) if self.intercept else self.X
            found = Rows(source, self.device)[index]
            if not self.checked:
                _check(self.name, found, index)
        labels = None if self.y is None else _plain(self.y[index])
        start = torch.from_numpy(self.start).to(self.device).expand(_count(index, self), 1, -1)
        if labels is None:
            return Chunk(found, start)
        wanted = self.encoding.encode(self.label, labels, _numbers(index, self))
        targets = _tensor(self.label, wanted, index, device=self.device)[:, None]
        return Chunk(found, start, targets, labels=labels)

    def digest(self, part: slice) -> str:
        """Of features and labels."""
        return _digest([self.X[part], None if self.y is None else self.y[part]])

    def identity(self) -> dict[str, Any]:
        """The classes."""
        classes = self.encoding.classes
        named = None if classes is None else classes.tolist()
        return {"kind": "features", "classes": named, "intercept": self.intercept, "start": self.start.tolist()}

    @property
    def device(self) -> torch.device:
        """Where the features lie, or were told to."""
        home = self.X.device if isinstance(self.X, Tensor) else torch.device("cpu")
        return self.place or home


@dataclass(frozen=True, eq=False)
class JacobianSource(Source):
    """Rows (n, k, D), residuals (n, k) and, where known, initial outputs (n, k)."""

    J: RowSource
    residual: Any
    initial: Any = None
    name: str = "J"
    place: torch.device | None = None
    checked: bool = False
    """Whether every number was looked at before; else each is when it is read."""

    columns = 1

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.J.shape[0])

    @property
    def per_sample(self) -> int:
        """Outputs."""
        return int(self.J.shape[1])

    @property
    def width(self) -> int:
        """Parameters."""
        return int(self.J.shape[2])

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Some of the samples."""
        found = None
        if rows:
            found = Rows(self.J, self.device)[index]
            if not self.checked:
                _check(self.name, found, index)
        zero = torch.zeros((), dtype=torch.float64, device=self.device)
        start = zero.expand(_count(index, self), self.per_sample, 1)
        if self.initial is not None:
            start = _tensor("initial", self.initial[index], index, self.device)[..., None]
        if self.residual is None:
            return Chunk(found, start)
        difference = _tensor("residual", self.residual[index], index, self.device)[..., None]
        return Chunk(found, start, start + difference, difference=difference)

    def digest(self, part: slice) -> str:
        """Of rows, residuals and initial outputs."""
        return _digest([None if array is None else array[part] for array in (self.J, self.residual, self.initial)])

    def identity(self) -> dict[str, Any]:
        """Nothing else."""
        return {"kind": "jacobian"}

    @property
    def device(self) -> torch.device:
        """Where the rows lie, or were told to."""
        home = self.J.device if isinstance(self.J, Tensor) else torch.device("cpu")
        return self.place or home


@dataclass(frozen=True, eq=False)
class LinearizedSource(Source):
    """The training samples of a linearization, or other samples it is looked at on."""

    given: Rows | None
    initial: Tensor
    targets: Tensor | None
    labels: Labels = None
    residual: Tensor | None = None

    @classmethod
    def training(cls, linearization: Linearization, labels: Labels = None) -> LinearizedSource:
        """The training samples."""
        return cls(linearization.rows, linearization.initial, linearization.targets, labels, linearization.residual)

    @classmethod
    def probed(cls, probe: Probe) -> LinearizedSource:
        """Those of a probe."""
        return cls(probe.rows, probe.initial, probe.targets)

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.initial)

    @property
    def per_sample(self) -> int:
        """Rows of one sample."""
        return int(self.initial.shape[1])

    @property
    def width(self) -> int | None:
        """Columns of the rows."""
        return None if self.given is None else self.given.width

    @property
    def columns(self) -> int:
        """Outputs that share a row."""
        return int(self.initial.shape[2])

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Some of the samples."""
        found = self.given[index] if rows and self.given is not None else None
        wanted = None if self.targets is None else self.targets[index]
        labels = None if self.labels is None else self.labels[index]
        return Chunk(
            found, self.initial[index], wanted, labels, None if self.residual is None else self.residual[index]
        )

    def rows(self) -> Rows:
        """Those of the linearization."""
        assert self.given is not None
        return self.given

    def digest(self, part: slice) -> str:
        """Of all there is."""
        chunk = self.read(part)
        return _digest([chunk.rows, chunk.initial, chunk.targets])

    def identity(self) -> dict[str, Any]:
        """Nothing else."""
        return {"kind": "linearization"}

    @property
    def device(self) -> torch.device:
        """Where the linearization lies."""
        return self.initial.device


def _count(index: Index, source: Source) -> int:
    return len(range(*index.indices(source.samples))) if isinstance(index, slice) else len(index)


def _numbers(index: Index, source: Source) -> Sequence[int]:
    """What to call the samples of an index in errors."""
    return range(*index.indices(source.samples)) if isinstance(index, slice) else index.tolist()


def _check(name: str, values: Tensor, index: Index) -> None:
    """Samples are called by their numbers."""
    if isinstance(index, slice):
        check_finite(name, values, None, int(index.start or 0))
    else:
        check_finite(name, values, index)


def _tensor(name: str, values: Any, index: Index, device: torch.device) -> Tensor:
    found = values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, dtype=np.float64))
    found = found.detach().to(device, torch.float64)
    _check(name, found, index)
    return found


def _plain(values: Any) -> NDArray[Any]:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


def _digest(arrays: list[Any]) -> str:
    sha = hashlib.sha256()
    for array in arrays:
        if array is None:
            sha.update(b"none\n")
            continue
        plain = _plain(array)
        plain = np.ascontiguousarray(plain.astype(str) if plain.dtype.kind == "O" else plain)
        sha.update(f"{plain.dtype} {plain.shape}\n".encode())
        sha.update(plain.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()
