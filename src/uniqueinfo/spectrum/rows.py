"""Rows of a Jacobian, or of features, wherever they lie: read in chunks, in the sample order they came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError

CHUNK_BYTES = 16 * 2**20  # of float64 at a time: larger blocks come new from the system every time, page by page


class RowSource(Protocol):
    """What rows can be read from: an array, a memory map, or a reader of shards on disk."""

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

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return self.source.shape[0]

    @property
    def per_sample(self) -> int:
        """Rows per sample: the outputs of a network; one where outputs share their features."""
        return self.source.shape[1] if len(self.source.shape) == 3 else 1

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.source.shape[-1]

    def __getitem__(self, index: slice | NDArray[np.intp]) -> Tensor:
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

    def check_finite(self, name: str) -> None:
        """Refuse NaN and infinity, naming the first sample that holds one."""
        for part in self.chunks():
            found = self.source[part]
            fine = torch.isfinite(found) if isinstance(found, Tensor) else np.isfinite(found)
            if not fine.all():
                sample = part.start + int(fine.reshape(len(fine), -1).all(1).tolist().index(False))
                raise InputError(f"{name}: sample {sample} holds NaN or infinity; mend or drop it first")


def slices(count: int, bytes_each: int) -> Iterator[slice]:
    """Consecutive slices of 0 … count, each worth about CHUNK_BYTES.

    >>> list(slices(5, CHUNK_BYTES // 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, CHUNK_BYTES // max(1, bytes_each))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
