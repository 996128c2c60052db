"""Sums over samples, JᵀJ and Jᵀr: what a partition adds, and the one order in which they are added.

Adding in a fixed binary tree gives the same bits whoever computes its nodes: this process, or workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from torch import Tensor

from uniqueinfo.progress import progress
from uniqueinfo.spectrum.rows import CHUNK_BYTES, Rows
from uniqueinfo.threads import together
from uniqueinfo.types import Floats

_BLOCKS = 4  # of columns, whose products are ten tasks for as many threads
_NARROW = 128  # columns of a block, at least: narrower ones are slower products
_SMALL = 1e8  # multiplications of a product that is not worth another thread

Leaf = TypeVar("Leaf")
Node = TypeVar("Node")


@dataclass(frozen=True, eq=False)
class Sums:
    """JᵀJ (D, D) and Jᵀr (D, columns) over some samples: numpy arrays, which travel between processes uncopied.

    >>> one = Sums(np.eye(2), np.ones((2, 1)), samples=3)
    >>> (one + one).gram.tolist(), (one - one).samples
    ([[2.0, 0.0], [0.0, 2.0]], 0)
    """

    gram: Floats
    moment: Floats
    samples: int

    @classmethod
    def of(cls, rows: Tensor, residual: Tensor | None) -> Sums:
        """Of rows (samples, per_sample, D) and what they are multiplied with; no columns where that is None."""
        flat = rows.flatten(0, 1)
        moment = np.zeros((flat.shape[1], 0)) if residual is None else _product(flat, residual.flatten(0, 1))
        return cls(_square(flat), moment, len(rows))

    @classmethod
    def over(cls, rows: Rows, residual: Tensor) -> Sums:
        """Of all rows, chunk by chunk, each large enough that adding its square to the others costs little."""
        each = 8 * rows.per_sample * rows.width
        step = max(1, max(CHUNK_BYTES, 2 * rows.width**2) // each)
        total = cls(np.zeros((rows.width, rows.width)), np.zeros((rows.width, residual.shape[2])), 0)
        with progress("Products of the rows", rows.samples) as advance:
            for start in range(0, rows.samples, step):
                part = slice(start, min(start + step, rows.samples))
                total += cls.of(rows[part], residual[part])
                advance(part.stop - part.start)
        return total

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.gram + other.gram, self.moment + other.moment, self.samples + other.samples)

    def __iadd__(self, other: Sums) -> Sums:
        """Another added in place, which spares a matrix: for sums that nobody else holds."""
        np.add(self.gram, other.gram, out=self.gram)
        np.add(self.moment, other.moment, out=self.moment)
        return Sums(self.gram, self.moment, self.samples + other.samples)

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.gram - other.gram, self.moment - other.moment, self.samples - other.samples)

    def __sizeof__(self) -> int:  # what a cluster counts against its memory
        return self.gram.nbytes + self.moment.nbytes


def tree(leaves: Sequence[Leaf], leaf: Callable[[Leaf], Node], add: Callable[[Node, Node], Node]) -> Node:
    """Add up leaves in pairs, pairs of pairs, …; depth first, so that a few sums are held at a time.

    >>> tree("abcde", str, lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    if len(leaves) == 1:
        return leaf(leaves[0])
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    return add(tree(leaves[:half], leaf, add), tree(leaves[half:], leaf, add))


def _square(rows: Tensor) -> Floats:
    """RᵀR, much work in blocks of columns: always the same ones, so that the number of threads changes no bit."""
    width = rows.shape[1]
    count = max(1, min(_BLOCKS, width // _NARROW))
    if rows.device.type != "cpu" or count == 1 or rows.numel() * width < _SMALL:
        return _product(rows, rows)
    flat = rows.numpy()
    out = np.empty((width, width))
    edges = [width * at // count for at in range(count + 1)]
    blocks = [slice(start, stop) for start, stop in pairwise(edges)]

    def product(left: slice, right: slice) -> None:
        out[left, right] = flat[:, left].T @ flat[:, right]
        if left != right:
            out[right, left] = out[left, right].T

    pairs = [(left, right) for at, left in enumerate(blocks) for right in blocks[at:]]
    pairs.sort(key=lambda pair: pair[0] == pair[1])  # a block with itself is half the work: those fill the gaps at last
    together([partial(product, *pair) for pair in pairs])
    return out


def _product(rows: Tensor, others: Tensor) -> Floats:
    """RᵀQ. On a processor by numpy: of a matrix with itself it computes one triangle, which halves the work."""
    if rows.device.type == "cpu":
        left = rows.numpy()
        found: Floats = left.T @ (left if others is rows else others.numpy())
        return found
    product: Floats = (rows.T @ others).cpu().numpy()
    return product
