"""What is kept of a parameter for all samples, to sum up its part of the kernel J Jᵀ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from uniqueinfo.jacobian.gradients import Gradient, Outer

# Numbers held in float64 at a time while products are summed.
WORKSPACE = 1 << 22
_STRIPS = 8  # of the training samples: of each only what is left of the diagonal is computed


class Piece(ABC):
    """A part of a parameter's Jacobian for all samples; training samples come first."""

    name: str

    @abstractmethod
    def keep(self, part: slice, output: int, gradient: Gradient) -> None:
        """Take what is needed from the gradient of one output, for these of all samples."""

    @abstractmethod
    def add_to(self, kernel: Tensor) -> None:
        """Add J Jᵀ of this piece; columns are those of the training samples, among whom the upper half is left out."""


class Block(Piece):
    """The Jacobian's columns of rows start … stop of a parameter, as they are."""

    def __init__(self, name: str, start: int, stop: int, storage: Tensor, *, alike: bool = False) -> None:
        self.name = name
        self._start, self._stop = start, stop
        self._alike = alike  # all outputs have one row, in which what is made of each stands side by side
        self._storage = storage  # (samples, outputs, columns), zeros

    def keep(self, part: slice, output: int, gradient: Gradient) -> None:
        """See `Piece`; contributions of several calls add up."""
        self._storage[part, output] += gradient.block(slice(None), self._start, self._stop).flatten(1)

    def add_to(self, kernel: Tensor) -> None:
        """See `Piece`."""
        rows = self._storage.flatten(1) if self._alike else self._storage.flatten(0, 1)
        for columns in torch.split(rows, max(1, WORKSPACE // len(rows)), dim=1):
            wide = columns.double()
            for part, stop in _strips(*kernel.shape):
                kernel[part, :stop].addmm_(wide[part], wide[:stop].T)


class Factors(Piece):
    """The factors of a weight's gradient Σ_p g_p ⊗ x_p, whose kernel is Σ_pq (g_ap · g_bq)(x_ap · x_bq).

    A layer's bias is the weight of one more input, which is 1. Batches may differ in their number of positions.
    """

    def __init__(self, name: str, outputs: int, *, with_bias: bool, alike: bool = False) -> None:
        self.name = name
        self._outputs = 1 if alike else outputs
        self._with_bias = with_bias
        self._alike = alike
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
        if self._alike:  # Σ_o g_ao · g_bo is the product of vectors in which outputs stand one after the other
            g = g.transpose(1, 2).flatten(2)[:, None]
        n, count = kernel.shape[1] // k, x.shape[1]
        x, g = x.flatten(0, 1).double(), g.flatten(0, 2).double()
        for part, stop in _strips(len(kernel) // k, n, WORKSPACE // (n * (k * count) ** 2)):
            xx = x[part.start * count : part.stop * count] @ x[: stop * count].T
            gg = g[part.start * k * count : part.stop * k * count] @ g[: stop * k * count].T
            xx = (xx.add_(1) if self._with_bias else xx).view(-1, 1, count, stop, 1, count)
            block = gg.view(-1, k, count, stop, k, count).mul_(xx)
            block = block.sum((2, 5)) if count > 1 else block[:, :, 0, :, :, 0]
            kernel[part.start * k : part.stop * k, : stop * k] += block.flatten(2, 3).flatten(0, 1)


def mirror(kernel: Tensor) -> None:
    """Fill the upper half of a symmetric matrix of which the lower half is there."""
    for part, _ in _strips(len(kernel), len(kernel)):
        kernel[: part.start, part] = kernel[part, : part.start].T
        kernel[part, part] = kernel[part, part].tril() + kernel[part, part].tril(-1).T


def _strips(count: int, columns: int, most: int | None = None) -> Iterator[tuple[slice, int]]:
    """Rows, at most so many at a time, and up to which column they are needed: hardly farther than the diagonal."""
    most = count if most is None else max(1, most)
    step = min(most, -(-columns // _STRIPS))
    for start in range(0, columns, step):
        stop = min(start + step, columns)
        yield slice(start, stop), stop
    for start in range(columns, count, most):
        yield slice(start, min(start + most, count)), columns


def _even(batches: list[Tensor]) -> Tensor:
    """Batches one after another, with zeros for the positions that some of them lack."""
    count = max(batch.shape[-1] for batch in batches)
    return torch.cat([F.pad(batch, (0, count - batch.shape[-1])) for batch in batches])
