"""The space in which training takes place, grown block by block in passes over the rows: a block Krylov space of JᵀJ.

Starting from a block B, the space span(B, HB, H²B, …) with H = JᵀJ holds the leading eigenvectors of H and, because
training from a vector in B is a function of H times that vector, nearly all of the training as well. Each block costs
one pass over the rows and nothing of the size of H.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.progress import progress
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.spectrum.rows import Rows


@dataclass(frozen=True, eq=False)
class Space:
    """An orthonormal basis Q of some directions, and its image HQ.

    >>> import numpy as np
    >>> rows = Rows(np.diag([3.0, 2.0, 1.0])[:, None])
    >>> space = Space.empty(rows).grown(rows, torch.ones(3, 1, dtype=torch.float64), blocks=3)
    >>> space.ritz()[0].numpy().round(6)                # three directions of three: the eigenvalues of JᵀJ
    array([1., 4., 9.])
    """

    basis: Tensor
    """Q, (width, directions)."""
    image: Tensor
    """HQ, of the same shape."""

    @classmethod
    def empty(cls, rows: Rows) -> Space:
        """No directions yet."""
        nothing = torch.zeros(rows.width, 0, dtype=torch.float64, device=rows.device)
        return cls(nothing, nothing)

    def grown(self, rows: Rows, block: Tensor, blocks: int, most: int | None = None) -> Space:
        """With span(B, HB, …, H^(blocks − 1) B) added, though never more than `most` directions in all."""
        basis, image = self.basis, self.image
        most = min(most or rows.width, rows.width)
        for _ in range(blocks):
            block = block[:, : most - basis.shape[1]]
            if block.shape[1] == 0:
                break
            block = orthonormal(block, basis)
            basis, block = torch.cat([basis, block], dim=1), times_hessian(rows, block)
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


def times_hessian(rows: Rows, vectors: Tensor) -> Tensor:
    """Jᵀ(JX) in one pass over the rows."""
    total = torch.zeros_like(vectors)
    with progress("Sketch", rows.samples) as advance:
        for part in rows.chunks():
            flat = rows[part].flatten(0, 1)
            total.addmm_(flat.T, flat @ vectors)
            advance(part.stop - part.start)
    return total


def mixtures(rows: Rows, residual: Tensor, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Jᵀr, and Jᵀg for `count` random g: in one pass, and the same whatever machine it runs on."""
    columns = residual.shape[2]
    total = torch.zeros(rows.width, columns + count, dtype=torch.float64, device=rows.device)
    with progress("Sketch", rows.samples) as advance:
        for part in rows.chunks():
            flat = rows[part].flatten(0, 1)
            generator = torch.Generator().manual_seed(seed + part.start)
            random = torch.randn(len(flat), count, dtype=torch.float64, generator=generator).to(flat)
            total.addmm_(flat.T, torch.cat([residual[part].flatten(0, 1), random], dim=1))
            advance(part.stop - part.start)
    return total[:, :columns], total[:, columns:]
