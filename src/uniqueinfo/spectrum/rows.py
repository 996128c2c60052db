"""Rows of a Jacobian, or of features, wherever they lie: read in chunks, in the sample order they came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.samples.checks import check_finite
from uniqueinfo.types import Index, Indices

CHUNK_BYTES = 16 * 2**20  # of float64 at a time: larger blocks come new from the system every time, page by page


class RowSource(Protocol):
    """What rows can be read from: an array, a memory map, a reader of files, or a network asked when needed."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(samples, …, width)."""

    def __getitem__(self, index: Any, /) -> Any:
        """The rows of a slice or of an array of sample indices."""


@dataclass(frozen=True)
class Rows:
    """n samples × `per_sample` rows × `width` columns, handed out as float64 on a device.

    >>> rows = Rows(np.arange(12, dtype=np.float32).reshape(3, 2, 2))
    >>> rows.samples, rows.per_sample, rows.width
    (3, 2, 2)
    >>> rows[1:2]
    tensor([[[4., 5.],
             [6., 7.]]], dtype=torch.float64)
    """

    source: RowSource
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @classmethod
    def given(cls, name: str, source: Any, dims: tuple[str, ...], device: torch.device | str | None) -> Rows:
        """From an array, a tensor or a reader of files, as a user hands it over; every value is looked at once.

        >>> Rows.given("X", [[1.0, 2.0]], ("samples", "features"), None).width
        2
        """
        if isinstance(source, list | tuple):
            try:
                source = np.asarray(source)
            except ValueError:
                raise InputError(
                    f"{name}: expected an array ({', '.join(dims)}), got a {type(source).__name__} whose parts differ "
                    "in shape; hand over the array alone, without labels"
                ) from None
        shape = getattr(source, "shape", None)
        if shape is None or len(shape) != len(dims):
            found = f"shape {tuple(shape)}" if shape is not None else f"a {type(source).__name__}"
            raise InputError(f"{name}: expected an array ({', '.join(dims)}), got {found}")
        if 0 in shape:
            raise InputError(f"{name}: is empty (shape {tuple(shape)}); it needs at least one of: {', '.join(dims)}")
        if isinstance(source, np.ndarray) and source.dtype.kind not in "fiub":
            raise InputError(f"{name}: expected numbers, got {source.dtype}")
        home = source.device if isinstance(source, Tensor) else "cpu"
        rows = cls(source, torch.device(device or home))
        for part in rows.chunks():
            found_rows = source[part]
            check_finite(
                name, found_rows if isinstance(found_rows, Tensor) else np.asarray(found_rows), None, part.start
            )
        return rows

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return int(self.source.shape[0])

    @property
    def per_sample(self) -> int:
        """Rows per sample: the outputs of a network; one where outputs share their features."""
        return int(self.source.shape[1]) if len(self.source.shape) == 3 else 1

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.source.shape[-1])

    def __getitem__(self, index: Index) -> Tensor:
        """The rows of these samples, (samples, per_sample, width)."""
        found = self.source[index]
        if isinstance(found, Tensor):
            part = found.detach().to(self.device, torch.float64)
        else:  # copied, as torch takes no read-only memory
            part = torch.from_numpy(np.array(found, dtype=np.float64)).to(self.device)
        return part.reshape(-1, self.per_sample, self.width)

    def chunks(self, bytes_per_sample: int | None = None) -> Iterator[slice]:
        """Slices of samples, each worth about CHUNK_BYTES."""
        return slices(self.samples, bytes_per_sample or 8 * self.per_sample * self.width)

    def take(self, samples: Indices) -> Rows:
        """The rows of some samples, read when asked for."""
        return Rows(_Taken(self.source, samples), self.device)


@dataclass(frozen=True, eq=False)
class _Taken:
    """Some samples of a source of rows."""

    source: RowSource
    samples: Indices

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.samples), *self.source.shape[1:]

    def __getitem__(self, index: Index) -> Any:
        return self.source[self.samples[index]]


@dataclass(frozen=True, eq=False)
class WithConstant:
    """Features (n, p) with one more column, of one value: the input of an intercept.

    >>> WithConstant(np.zeros((2, 1)), 3.0)[:]
    tensor([[0., 3.],
            [0., 3.]], dtype=torch.float64)
    """

    source: RowSource
    value: float

    @property
    def shape(self) -> tuple[int, ...]:
        """One column more than the features have."""
        return int(self.source.shape[0]), int(self.source.shape[1]) + 1

    def __getitem__(self, index: Index) -> Any:
        found = self.source[index]
        if isinstance(found, Tensor):
            exact = found.double()  # in float32, or as an integer, the column's value would be another
            return torch.cat([exact, exact.new_full((len(exact), 1), self.value)], dim=1)
        plain = np.asarray(found)
        wider = np.empty((len(plain), plain.shape[1] + 1))  # written once: features may be many
        wider[:, :-1], wider[:, -1] = plain, self.value
        return torch.from_numpy(wider)


def slices(count: int, bytes_each: int) -> Iterator[slice]:
    """Consecutive slices of 0 … count, each worth about CHUNK_BYTES.

    >>> list(slices(5, CHUNK_BYTES // 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, CHUNK_BYTES // max(1, bytes_each))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
