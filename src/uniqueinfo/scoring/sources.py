"""Where partitions are read from: features and their labels, or Jacobian rows and their residuals.

A source can be sent to other processes, and gives the same part again whenever it is asked.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.samples.encoding import Encoding
from uniqueinfo.samples.stored import Index
from uniqueinfo.spectrum.rows import Rows, RowSource

Name = Literal["train", "val"]


@dataclass(frozen=True, eq=False)
class Part:
    """Some samples, read."""

    rows: Tensor
    """(samples, per_sample, width)."""
    initial: Tensor
    """Outputs at the start, (samples, per_sample, columns)."""
    targets: Tensor | None
    """Of the same shape."""
    labels: NDArray[Any] | None


class Source(Protocol):
    """Samples by their numbers."""

    @property
    def samples(self) -> int:
        """How many there are."""

    @property
    def per_sample(self) -> int:
        """Rows of one sample."""

    @property
    def width(self) -> int:
        """D: columns of a row."""

    @property
    def columns(self) -> int:
        """Outputs that share a row."""

    def read(self, index: Index) -> Part:
        """Some of the samples."""

    def digest(self, part: slice) -> str:
        """SHA-256 of what these samples are made from."""

    def identity(self) -> dict[str, Any]:
        """What else the rows depend on."""


@dataclass(frozen=True, eq=False)
class FeatureSource:
    """Features (n, p) and labels (n,) of a linear head."""

    X: RowSource
    y: Any
    encoding: Encoding
    outputs: int
    name: str = "X"
    device: str | None = None

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.X.shape[0])

    per_sample = 1

    @property
    def width(self) -> int:
        """Features."""
        return int(self.X.shape[1])

    @property
    def columns(self) -> int:
        """Outputs: they share their features."""
        return self.outputs

    def read(self, index: Index) -> Part:
        """Some of the samples."""
        rows = _rows(self.name, self.X, index, self.device)
        start = rows.new_zeros(()).expand(len(rows), 1, self.outputs)
        if self.y is None:
            return Part(rows, start, None, None)
        labels = np.asarray(self.y[index])
        wanted = self.encoding.encode(f"labels of {self.name}, counted from {_first(index)}", labels)
        return Part(rows, start, _tensor("y", wanted, index, rows)[:, None], labels)

    def digest(self, part: slice) -> str:
        """Of features and labels."""
        return _digest([self.X[part], None if self.y is None else self.y[part]])

    def identity(self) -> dict[str, Any]:
        """The classes."""
        classes = self.encoding.classes
        return {"kind": "features", "classes": None if classes is None else classes.tolist()}


@dataclass(frozen=True, eq=False)
class JacobianSource:
    """Rows (n, k, D), residuals (n, k) and, where known, initial outputs (n, k)."""

    J: RowSource
    residual: Any
    initial: Any = None
    name: str = "J"
    device: str | None = None

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

    columns = 1

    def read(self, index: Index) -> Part:
        """Some of the samples."""
        rows = _rows(self.name, self.J, index, self.device)
        start = rows.new_zeros(()).expand(*rows.shape[:2], 1)
        if self.initial is not None:
            start = _tensor("initial", self.initial[index], index, rows)[..., None]
        if self.residual is None:
            return Part(rows, start, None, None)
        return Part(rows, start, start + _tensor("residual", self.residual[index], index, rows)[..., None], None)

    def digest(self, part: slice) -> str:
        """Of rows, residuals and initial outputs."""
        return _digest([None if array is None else array[part] for array in (self.J, self.residual, self.initial)])

    def identity(self) -> dict[str, Any]:
        """Nothing else."""
        return {"kind": "jacobian"}


@dataclass(frozen=True, eq=False)
class Sources:
    """Training samples and, if there are any, validation samples: what an engine is given to work on."""

    train: Source
    val: Source | None = None

    def of(self, piece: Piece) -> Source:
        """The one that a piece is of."""
        source = self.train if piece.name == "train" else self.val
        assert source is not None
        return source

    def read(self, piece: Piece) -> Part:
        """The samples of a piece."""
        return self.of(piece).read(piece.index)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some of the training, or of the validation, samples."""

    name: Name
    index: Index

    def __len__(self) -> int:
        return self.index.stop - self.index.start if isinstance(self.index, slice) else len(self.index)


def digest_of(sources: Sources, _: None, piece: Piece) -> str:
    """A task: the digest of a piece."""
    assert isinstance(piece.index, slice)
    return sources.of(piece).digest(piece.index)


def _rows(name: str, array: RowSource, index: Index, device: str | None) -> Tensor:
    rows = Rows(array, torch.device(device or "cpu"))[index]
    _check_finite(name, rows, index)
    return rows


def _tensor(name: str, values: Any, index: Index, like: Tensor) -> Tensor:
    found = values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, dtype=np.float64))
    found = found.detach().to(like.device, torch.float64)
    _check_finite(name, found, index)
    return found


def _check_finite(name: str, values: Tensor, index: Index) -> None:
    if values.sum().isfinite():  # then all are, and a sum is quick
        return
    fine = values.isfinite().flatten(1).all(dim=1)
    if not fine.all():
        wrong = int((~fine).int().argmax())
        sample = index.start + wrong if isinstance(index, slice) else int(index[wrong])
        raise InputError(f"{name}: sample {sample} holds NaN or infinity; mend or drop it first")


def _first(index: Index) -> int:
    return int(index.start if isinstance(index, slice) else index[0])


def _digest(arrays: list[Any]) -> str:
    sha = hashlib.sha256()
    for array in arrays:
        if array is None:
            sha.update(b"none\n")
            continue
        plain = array.detach().cpu().numpy() if isinstance(array, Tensor) else np.asarray(array)
        plain = np.ascontiguousarray(plain.astype(str) if plain.dtype.kind == "O" else plain)
        sha.update(f"{plain.dtype} {plain.shape}\n".encode())
        sha.update(plain.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()
