"""Training samples as a loss looks at them: some of all, and blocks of them that leave together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.removal.course import Point
from uniqueinfo.removal.weighted import WeightedRows
from uniqueinfo.training.losses import Loss
from uniqueinfo.types import Indices


@dataclass(frozen=True, eq=False)
class Some:
    """Some training samples, read from wherever they lie."""

    numbers: Indices
    """Which they are among all."""
    rows: WeightedRows
    initial: Tensor
    """Outputs before training, (samples, k)."""
    targets: Tensor
    along: Tensor | None = None
    """Outputs at the checkpoints of a training that happened, (points, samples, k)."""

    def outputs(self, point: Point) -> Tensor:
        """At a point of the course, (samples, k)."""
        if isinstance(point, int):
            assert self.along is not None
            return self.along[point]
        return self.initial + self.rows.moved(point.to(self.initial.device)[None])[0]

    def gradient(self, loss: Loss, point: Point) -> Tensor:
        """Σ Jᵀg at a point, (size,)."""
        return self.rows.pushed(loss.gradient(self.outputs(point), self.targets)[None])[0]

    def curvature(self, loss: Loss, points: Sequence[Point]) -> Tensor:
        """Σ JᵀAJ with the mean of the A at some points, (size, size)."""
        found = [loss.curvature(self.outputs(point), self.targets) for point in points]
        return self.rows.curved(torch.stack(found).mean(dim=0))

    def gradients(self, loss: Loss, outputs: Tensor) -> Tensor:
        """g at many outputs of these samples, both (removals, samples, k)."""
        return loss.gradient(outputs.flatten(0, 1), self._repeated(outputs)).reshape(outputs.shape)

    def bent(self, loss: Loss, outputs: Tensor, moved: Tensor) -> Tensor:
        """A v at many outputs of these samples, all (removals, samples, k)."""
        curvature = loss.curvature(outputs.flatten(0, 1), self._repeated(outputs))
        found: Tensor = (curvature @ moved.flatten(0, 1)[..., None])[..., 0]
        return found.reshape(outputs.shape)

    def _repeated(self, outputs: Tensor) -> Tensor:
        return self.targets.repeat(len(outputs), 1)


Everyone = Callable[[], Iterator[Some]]
"""Goes through all training samples."""


@dataclass(frozen=True, eq=False)
class Block:
    """Samples that leave together, for a chunk of removals of one size."""

    members: Indices
    """(removals, size)."""
    some: Some
    """All members, one removal after the other."""

    @property
    def removals(self) -> int:
        """How many there are."""
        return len(self.members)

    @property
    def size(self) -> int:
        """Samples that leave with each."""
        return int(self.members.shape[1])


def together(curvature: Tensor, block: Block) -> Tensor:
    """A of all samples of a removal as one matrix, (removals, size · k, size · k)."""
    if block.size == 1:
        return curvature
    each = curvature.reshape(block.removals, block.size, *curvature.shape[1:])
    found = each.new_zeros(block.removals, block.size, each.shape[2], block.size, each.shape[2])
    for one in range(block.size):
        found[:, one, :, one] = each[:, one]
    return found.reshape(block.removals, block.size * each.shape[2], -1)


def staying(members: Indices, numbers: Indices, like: Tensor) -> Tensor:
    """1 for those of these samples that stay in each removal, 0 for those that leave, (removals, samples, 1)."""
    return torch.from_numpy(~(members[:, :, None] == numbers).any(axis=1)).to(like)[..., None]
