"""What a partition adds to the sums over all samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from uniqueinfo.scoring.sources import Piece, Sources


@dataclass(frozen=True, eq=False)
class Sums:
    """JᵀJ (D, D) and Jᵀr (D, columns) over some samples: numpy arrays, which travel between processes uncopied.

    >>> one = Sums(np.eye(2), np.ones((2, 1)), samples=3)
    >>> (one + one).gram.tolist(), (one + one).samples
    ([[2.0, 0.0], [0.0, 2.0]], 6)
    """

    gram: Floats
    moment: Floats
    samples: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.gram + other.gram, self.moment + other.moment, self.samples + other.samples)

    def __sizeof__(self) -> int:  # what a cluster counts against its memory
        return self.gram.nbytes + self.moment.nbytes


def sum_of(sources: Sources, piece: Piece) -> Sums:
    """A task: the sums of a partition; the moment has no columns where there are no targets."""
    found = sources.read(piece)
    flat = found.rows.flatten(0, 1)
    columns = 0 if found.targets is None else found.targets.shape[2]
    moment = np.zeros((flat.shape[1], columns))
    if found.targets is not None:
        moment = (flat.T @ (found.targets - found.initial).flatten(0, 1)).cpu().numpy()
    return Sums(gram(flat), moment, len(found.rows))


def gram(rows: Tensor) -> Floats:
    """RᵀR: numpy's product of a matrix with itself computes one triangle, which halves the work."""
    if rows.device.type == "cpu":
        flat = rows.numpy()
        found: Floats = flat.T @ flat
        return found
    product: Floats = (rows.T @ rows).cpu().numpy()
    return product
