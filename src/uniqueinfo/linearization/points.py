"""Samples as points whose inner products are the network's kernel: how far they lie apart, and the closest pairs.

The distance of two samples is that of their points, relative to their lengths,

    d(i, j) = ‖P_i − P_j‖ / √(‖P_i‖ ‖P_j‖)

zero for samples the network cannot tell apart, √2 for samples of equal length that have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.linearization.origin import Origin
from uniqueinfo.progress import progress
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import CHUNK_BYTES, slices
from uniqueinfo.types import Floats, Indices

_BLOCK = 2048  # samples compared at a time, with as many others


@dataclass(frozen=True, eq=False)
class Points:
    """Points that are computed when they are read, some at a time."""

    count: int
    width: int
    read: Callable[[slice], Tensor]
    """The points of a slice of the samples, (samples, width)."""

    @classmethod
    def of_training(cls, origin: Origin, samples: Indices | None = None) -> Points:
        """All training samples, or some of them."""
        chosen = np.arange(origin.run.samples) if samples is None else samples
        width = origin.run.residual.shape[1] * origin.run.system.rank
        return cls(len(chosen), width, lambda part: origin.points(chosen[part]).flatten(1))

    @classmethod
    def of_probe(cls, probe: Probe) -> Points:
        """Other samples, as far as training samples can see them: their part in the span of the training samples."""
        width = probe.rows.per_sample * probe.system.rank
        return cls(probe.samples, width, lambda part: probe.system.rotate(probe.seen[part]).flatten(1))

    def parts(self) -> Iterator[slice]:
        """Slices that can be worked on together: neither their points nor the products of two are many."""
        return slices(self.count, max(8 * self.width, CHUNK_BYTES // _BLOCK))

    def gram(self) -> Tensor:
        """Inner products of all pairs, (count, count)."""
        rows = [[self.read(part) @ self.read(other).T for other in self.parts()] for part in self.parts()]
        return torch.cat([torch.cat(row, dim=1) for row in rows])


@dataclass(frozen=True, eq=False)
class Pairs:
    """The closest pairs, closest first, and how far each sample's nearest neighbour is."""

    first: Indices
    second: Indices
    distance: Floats
    nearest: Floats
    """For each sample of the first (and, where both are the same, only) set."""


def closest_pairs(points: Points, others: Points | None = None, *, most: int) -> Pairs:
    """The `most` closest pairs within a set, or between two; memory is bounded whatever their sizes.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 3.0]])
    >>> found = closest_pairs(Points(4, 2, lambda part: x[part]), most=2)
    >>> found.first, found.second, found.distance.round(3)
    (array([0, 1]), array([2, 3]), array([0.   , 1.155]))
    """
    against = points if others is None else others

    def squares(part: slice) -> Callable[[slice], Tensor]:
        here = points.read(part)
        same = None if others is not None else part
        return lambda other: _squares(here, here if other == same else against.read(other))

    return closest(list(points.parts()), None if others is None else list(others.parts()), squares, most=most)


def closest(
    parts: list[slice], others: list[slice] | None, squares: Callable[[slice], Callable[[slice], Tensor]], *, most: int
) -> Pairs:
    """The `most` closest pairs by squared distances, which come for a part of one set and then of the other.

    None in place of the `others`: pairs are within the one set, and each counts once.
    """
    count, within = parts[-1].stop, others is None
    nearest = torch.full((count,), torch.inf, dtype=torch.float64)
    pool = (nearest.new_empty(0), nearest.new_empty(0, 2).long())
    with progress("Comparing samples", count) as advance:
        for part in parts:
            found = squares(part)
            for other in parts if others is None else others:
                if within and other.start < part.start:
                    continue
                square = found(other)
                nearest, pool = nearest.to(square.device), (pool[0].to(square.device), pool[1].to(square.device))
                if within and other.start == part.start:  # each pair once
                    square.masked_fill_(torch.ones_like(square, dtype=torch.bool).tril_(), torch.inf)
                nearest[part] = torch.minimum(nearest[part], square.amin(dim=1))
                if within:
                    nearest[other] = torch.minimum(nearest[other], square.amin(dim=0))
                pool = _merged(pool, square, part.start, other.start, most)
            advance(part.stop - part.start)
    values, order = pool[0].sort(stable=True)
    at: Indices = pool[1][order].cpu().numpy()
    return Pairs(at[:, 0], at[:, 1], values.sqrt().cpu().numpy(), nearest.sqrt().cpu().numpy())


def _squares(here: Tensor, there: Tensor) -> Tensor:
    return apart(here.square().sum(dim=1), there.square().sum(dim=1), here @ there.T)


def apart(left: Tensor, right: Tensor, inner: Tensor) -> Tensor:
    """‖P_i − P_j‖² / (‖P_i‖ ‖P_j‖) of all pairs, from squared lengths and inner products.

    Two points at the origin are the same.

    >>> apart(torch.tensor([1.0]), torch.tensor([1.0, 1.0]), torch.tensor([[1.0, 0.0]]))
    tensor([[0., 2.]])
    """
    tiny = torch.finfo(inner.dtype).tiny
    lengths = (left[:, None] * right).sqrt().clamp(min=tiny)
    found: Tensor = (left[:, None] + right - 2 * inner).clamp_(min=0) / lengths
    return found


def _merged(pool: tuple[Tensor, Tensor], square: Tensor, row: int, column: int, most: int) -> tuple[Tensor, Tensor]:
    """The closest pairs of those before and those of a block."""
    limit = pool[0].max() if len(pool[0]) == most else torch.inf
    at = (square < limit).nonzero()
    values = torch.cat([pool[0], square[at[:, 0], at[:, 1]]])
    pairs = torch.cat([pool[1], at + at.new_tensor([row, column])])
    if len(values) <= most:
        return values, pairs
    kept = values.topk(most, largest=False, sorted=False).indices
    return values[kept], pairs[kept]
