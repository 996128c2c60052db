"""What is kept of a parameter for all samples, to sum up its part of the kernel J Jᵀ."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor

from uniqueinfo.jacobian.gradients import Gradient, Outer

# Numbers held in float64 at a time while products are summed.
WORKSPACE = 1 << 22


class Piece(ABC):
    """A part of a parameter's Jacobian for all samples; training samples come first."""

    name: str

    @abstractmethod
    def keep(self, part: slice, output: int, gradient: Gradient) -> None:
        """Take what is needed from the gradient of one output, for these of all samples."""

    @abstractmethod
    def add_to(self, kernel: Tensor) -> None:
        """Add J Jᵀ of this piece; the kernel's columns are those of the training samples."""


class Rows(Piece):
    """The Jacobian's columns of rows start … stop of a parameter, as they are."""

    def __init__(self, name: str, start: int, stop: int, storage: Tensor) -> None:
        self.name = name
        self._start, self._stop = start, stop
        self._storage = storage  # (samples, outputs, columns), zeros

    def keep(self, part: slice, output: int, gradient: Gradient) -> None:
        """See `Piece`; contributions of several calls add up."""
        self._storage[part, output] += gradient.block(slice(None), self._start, self._stop).flatten(1)

    def add_to(self, kernel: Tensor) -> None:
        """See `Piece`."""
        rows = self._storage.flatten(0, 1)
        for columns in torch.split(rows, max(1, WORKSPACE // len(rows)), dim=1):
            wide = columns.double()
            kernel.addmm_(wide, wide[: kernel.shape[1]].T)


class Factors(Piece):
    """The factors of a weight's gradient Σ_p g_p ⊗ x_p, whose kernel is Σ_pq (g_ap · g_bq)(x_ap · x_bq).

    Batches may differ in their number of positions.
    """

    def __init__(self, name: str, outputs: int) -> None:
        self.name = name
        self._outputs = outputs
        self._x: dict[int, Tensor] = {}  # first sample of the batch → (b, columns, positions)
        self._g: dict[int, list[Tensor]] = {}  # → for each output, (b, height, positions)

    def keep(self, part: slice, output: int, gradient: Gradient) -> None:
        """See `Piece`."""
        assert isinstance(gradient, Outer)
        if output == 0:
            self._x[part.start] = gradient.x.all(slice(None))[:, 0].clone()
        self._g.setdefault(part.start, []).append(gradient.g[:, 0].clone())

    def add_to(self, kernel: Tensor) -> None:
        """See `Piece`."""
        k = self._outputs
        x = _even([self._x[start] for start in sorted(self._x)]).mT
        g = _even([torch.stack(self._g[start], dim=1) for start in sorted(self._g)]).mT
        n, count = kernel.shape[1] // k, x.shape[1]
        x_train, g_train = x[:n].flatten(0, 1).double().T, g[:n].flatten(0, 2).double().T
        step = max(1, WORKSPACE // (n * (k * count) ** 2))
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            xx = (x[part].flatten(0, 1).double() @ x_train).view(-1, 1, count, n, 1, count)
            gg = (g[part].flatten(0, 2).double() @ g_train).view(-1, k, count, n, k, count)
            block = (gg * xx).sum((2, 5)) if count > 1 else (gg * xx)[:, :, 0, :, :, 0]
            kernel[start * k : (start + len(block)) * k] += block.flatten(2, 3).flatten(0, 1)


def _even(batches: list[Tensor]) -> Tensor:
    """Batches one after another, with zeros for the positions that some of them lack."""
    count = max(batch.shape[-1] for batch in batches)
    return torch.cat([F.pad(batch, (0, count - batch.shape[-1])) for batch in batches])
