"""The space in which training takes place, grown block by block in passes over the rows: a block Krylov space of JᵀJ.

Starting from a block B, the space span(B, HB, H²B, …) with H = JᵀJ holds the leading eigenvectors of H and, because
training from a vector in B is a function of H times that vector, nearly all of the training as well. Each block costs
one pass over the rows and nothing of the size of H.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.progress import progress
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.types import Floats

_DRAWN = 256  # samples whose random numbers are drawn together


@dataclass(frozen=True, eq=False)
class Space:
    """An orthonormal basis Q of some directions, and its image HQ.

    >>> rows, ones = Rows(np.diag([3.0, 2.0, 1.0])[:, None]), torch.ones(3, 1, dtype=torch.float64)
    >>> space = Space.empty(ones).grown(RowPasses(rows, ones[:, None]), ones, blocks=3)
    >>> space.ritz()[0].numpy().round(6)                # three directions of three: the eigenvalues of JᵀJ
    array([1., 4., 9.])
    """

    basis: Tensor
    """Q, (width, directions)."""
    image: Tensor
    """HQ, of the same shape."""

    @classmethod
    def empty(cls, like: Tensor) -> Space:
        """No directions yet, of as many numbers as those of a block (width, many)."""
        return cls(like[:, :0], like[:, :0])

    def grown(self, passes: Passes, block: Tensor, blocks: int, most: int | None = None) -> Space:
        """With span(B, HB, …, H^(blocks − 1) B) added, though never more than `most` directions in all."""
        basis, image = self.basis, self.image
        most = min(most or len(basis), len(basis))
        for _ in range(blocks):
            block = block[:, : most - basis.shape[1]]
            if block.shape[1] == 0:
                break
            block = orthonormal(block, basis)
            basis, block = torch.cat([basis, block], dim=1), passes.times_hessian(block)
            image = torch.cat([image, block], dim=1)
        return Space(basis, image)

    def ritz(self) -> tuple[Tensor, Tensor]:
        """Eigenvalues of QᵀHQ, smallest first, and the vectors of the space that belong to them."""
        inside = self.basis.T @ self.image
        values, vectors = eigh((inside + inside.T) / 2)
        return values, self.basis @ vectors

    def outside(self, vectors: Tensor) -> Tensor:
        """The part of vectors (width, many) that is orthogonal to the space."""
        return vectors - self.basis @ (self.basis.T @ vectors)


def orthonormal(block: Tensor, basis: Tensor) -> Tensor:
    """Directions of a block orthogonal to a basis and to one another.

    Three rounds: the first may leave nothing but rounding (where the space is complete), which the second makes a
    direction of and the third sets right.
    """
    for _ in range(3):
        block = torch.linalg.qr(block - basis @ (basis.T @ block))[0]
    return block


def twice(rows: Tensor, vectors: Tensor) -> Tensor:
    """Jᵀ(JX) of rows (samples, per_sample, width)."""
    flat = rows.flatten(0, 1)
    return flat.T @ (flat @ vectors)


def mixed(rows: Tensor, residual: Tensor, first: int, count: int, seed: int) -> Tensor:
    """[Jᵀr, Jᵀg] for `count` random g, (width, columns + count); the first of the samples is number `first`.

    The numbers of g belong to the samples, however these are cut and whatever machine it runs on.

    >>> rows = torch.eye(600, dtype=torch.float64).reshape(600, 1, 600)
    >>> whole = mixed(rows, torch.zeros(600, 1, 0), 0, 2, seed=0)
    >>> torch.equal(whole[500:], mixed(rows[500:], torch.zeros(100, 1, 0), 500, 2, seed=0)[500:])
    True
    """
    last = first + len(rows)
    blocks = [
        np.random.default_rng([seed, block]).standard_normal((_DRAWN, rows.shape[1], count))
        for block in range(first // _DRAWN, -(-last // _DRAWN))
    ]
    start = first // _DRAWN * _DRAWN
    random = torch.from_numpy(np.concatenate(blocks)[first - start : last - start]).to(rows)
    return rows.flatten(0, 1).T @ torch.cat([residual.to(rows), random], dim=2).flatten(0, 1)


def left_outside(rows: Tensor, basis: Tensor) -> tuple[Floats, float]:
    """‖J_i P‖² of every sample with P = I − QQᵀ, and the largest eigenvalue that any sample's rows have there alone."""
    tails = rows - (rows @ basis) @ basis.T
    blocks = tails @ tails.transpose(1, 2)
    found: Floats = blocks.diagonal(dim1=1, dim2=2).sum(dim=1).cpu().numpy()
    return found, float(torch.linalg.eigvalsh(blocks).max())


class Passes(Protocol):
    """What a sketch asks of all rows, wherever they lie: each takes one pass over them."""

    def mixtures(self, count: int, seed: int) -> Tensor:
        """[Jᵀr, Jᵀg], see `mixed`."""

    def times_hessian(self, vectors: Tensor) -> Tensor:
        """Jᵀ(JX)."""

    def outside(self, basis: Tensor) -> tuple[Floats, float]:
        """See `left_outside`."""


@dataclass(frozen=True, eq=False)
class RowPasses:
    """Over rows that are read in this process, one chunk after the other."""

    rows: Rows
    residual: Tensor

    def mixtures(self, count: int, seed: int) -> Tensor:
        """See `Passes`."""
        return self._sum(lambda part, found: mixed(found, self.residual[part], part.start, count, seed))

    def times_hessian(self, vectors: Tensor) -> Tensor:
        """See `Passes`."""
        return self._sum(lambda _, found: twice(found, vectors))

    def outside(self, basis: Tensor) -> tuple[Floats, float]:
        """See `Passes`."""
        found = [left_outside(rows, basis) for _, rows in self._read()]
        return np.concatenate([part for part, _ in found]), max(largest for _, largest in found)

    def _sum(self, of: Callable[[slice, Tensor], Tensor]) -> Tensor:
        return reduce(torch.Tensor.add_, (of(part, rows) for part, rows in self._read()))

    def _read(self) -> Iterator[tuple[slice, Tensor]]:
        with progress("Sketch", self.rows.samples) as advance:
            for part in self.rows.chunks():
                yield part, self.rows[part]
                advance(part.stop - part.start)
