"""A small network with samples, and Jacobian rows of it cut into many pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.jacobian.network_rows import Differentiated, NetworkRows
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.samples.samples import as_samples

SAMPLES, PIECE = 37, 8
ROW = 4 * 3 * 75  # bytes of a sample's rows: three outputs, 75 parameters
SMALL = 8 * PIECE * ROW  # a budget that cuts the samples into pieces of eight
LARGE = 10**9


class Bent(nn.Module):
    """A layer, a bend and a layer; two that differ in their bend alone have the same fingerprint."""

    def __init__(self, bend: Any = torch.tanh) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(5, 8), nn.Linear(8, 3)
        self.bend = bend

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.last(self.bend(self.first(x)))
        return outputs


def network(bend: Any = torch.tanh) -> Bent:
    torch.manual_seed(0)
    return Bent(bend)


def inputs() -> NDArray[np.float32]:
    return np.random.default_rng(0).normal(size=(SAMPLES, 5)).astype(np.float32)


def labels() -> NDArray[np.intp]:
    return np.arange(SAMPLES) % 3


def rows_of(model: nn.Module | None = None, data: Any = None, memory: int = SMALL) -> NetworkRows:
    """Jacobian rows, nothing of them computed yet."""
    chosen = as_samples((inputs(), labels()) if data is None else data)
    return NetworkRows.of(Differentiated(model or network(), None, None, None, memory), chosen)


def all_kept(rows: NetworkRows, folder: Path) -> NetworkRows:
    """With every piece computed, or found, in a folder."""
    kept = rows.kept_on_disk(folder)
    for number, _ in enumerate(kept.pieces()):
        kept.piece(number)
    return kept


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many samples the network is differentiated for, pass after pass."""
    sizes, real = [], RowEngine.__call__

    def call(self: RowEngine, given: Inputs) -> tuple[Tensor, Tensor]:
        assert isinstance(given, Tensor)
        sizes.append(len(given))
        return real(self, given)

    RowEngine.__call__ = call  # type: ignore[method-assign, assignment]
    try:
        yield sizes
    finally:
        RowEngine.__call__ = real  # type: ignore[method-assign]
