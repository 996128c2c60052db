"""What models trained without a sample say about it: leave-one-out outputs in closed form, for several kernels.

Ridge regression towards targets Y with a kernel K and decay λ, hat matrix H = K(K + λ)⁻¹, says of a sample it has not
seen

    f₋ᵢ(xᵢ) = (f(xᵢ) − H_ii y_i) / (1 − H_ii)

which is what `Converged(λ, reduction="sum")` and a removal of every sample give. One eigendecomposition serves all
decays and all labellings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from uniqueinfo.types import Floats, Indices

DECAYS = tuple(10.0 ** np.arange(-5, -0.9, 0.5))
"""Relative to the trace of the kernel."""
WIDTHS = (0.1, 0.3, 1.0)
"""Of Gaussian kernels, relative to the median squared distance."""
LANDMARKS = 2000
"""Samples, at most, that Gaussian kernels are decomposed on; more are seen through these."""
_LEAST = 1e-10  # of the largest eigenvalue: below it there is only rounding
_OWN = 1e-9  # of a prediction must come from the other samples
_NEAR = 5  # neighbours that count alike


@dataclass(frozen=True, eq=False)
class Decomposed:
    """K = U diag(s) Uᵀ."""

    vectors: Floats
    values: Floats

    @classmethod
    def of_rows(cls, rows: Floats) -> Decomposed:
        """K = ZZᵀ, by whichever side is smaller."""
        samples, width = rows.shape
        if width >= samples:
            return cls._kept(*reversed(eigh(rows @ rows.T)))
        values, turn = eigh(rows.T @ rows)
        kept = values > _LEAST * values[-1]
        return cls(rows @ turn[:, kept] / np.sqrt(values[kept]), values[kept])

    @classmethod
    def _kept(cls, vectors: Floats, values: Floats) -> Decomposed:
        kept = values > _LEAST * values[-1]
        return cls(vectors[:, kept], values[kept])

    def left_out(self, targets: Floats, decay: float) -> Floats:
        """Outputs (n, k) for each sample by ridge regression on the others, with λ = decay · trace K.

        >>> rows = Decomposed.of_rows(np.array([[1.0], [1.0]]))
        >>> rows.left_out(np.array([[0.0], [2.0]]), 0.5).round(6).ravel()   # 2/(1 + 0.5 · 2) from the other
        array([1., 0.])
        """
        share, own = self.share(decay), self.own(decay)[:, None]
        fitted = self.vectors @ (share[:, None] * (self.vectors.T @ targets))
        found: Floats = (fitted - own * targets) / (1 - own)
        return found

    def share(self, decay: float) -> Floats:
        """Of each direction what is learnt, s/(s + λ)."""
        found: Floats = self.values / (self.values + decay * self.values.sum())
        return found

    def own(self, decay: float) -> Floats:
        """H_ii of every sample, (n,)."""
        return np.minimum(np.square(self.vectors) @ self.share(decay), 1 - _OWN)

    def column(self, sample: int, decays: Sequence[float]) -> Floats:
        """H_ji of all samples j with one sample i, for each decay, (decays, n)."""
        shares = np.stack([self.share(decay) for decay in decays])
        found: Floats = (self.vectors @ (shares * self.vectors[sample]).T).T
        return found


def linear(X: Floats) -> Decomposed:
    """A linear head with an intercept, whose column is as large as features are long."""
    centred = X - X.mean(axis=0)
    length = np.sqrt(np.square(centred).sum(axis=1).mean()) or 1.0
    return Decomposed.of_rows(np.column_stack([centred, np.full(len(X), length)]))


def gaussian(X: Floats, width: float, seed: int = 0) -> Decomposed:
    """exp(−‖x − x'‖²/2σ²) with σ² = width · the median squared distance; through landmarks where samples are many."""
    if len(X) <= LANDMARKS:
        squares = squared_distances(X, X)
        kernel = np.exp(-squares / (2 * width * _typical(squares)))
        return Decomposed._kept(*reversed(eigh(kernel)))
    marks = X[np.sort(np.random.default_rng(seed).choice(len(X), LANDMARKS, replace=False))]
    among = squared_distances(marks, marks)
    scale = 2 * width * _typical(among)
    values, turn = eigh(np.exp(-among / scale))
    kept = values > _LEAST * values[-1]
    seen = np.exp(-squared_distances(X, marks) / scale)
    return Decomposed.of_rows(seen @ turn[:, kept] / np.sqrt(values[kept]))


def squared_distances(X: Floats, others: Floats) -> Floats:
    """‖x − x'‖² of all pairs, (n, m).

    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[25.]])
    """
    found = np.square(X).sum(axis=1)[:, None] + np.square(others).sum(axis=1)[None] - 2 * (X @ others.T)
    apart: Floats = np.maximum(found, 0)
    return apart


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest other samples of each, nearest first."""

    numbers: Indices
    """(n, count)."""
    squares: Floats
    """Squared distances, (n, count)."""

    @classmethod
    def of(cls, X: Floats, count: int) -> Neighbours:
        """Compares all pairs, some rows at a time.

        >>> Neighbours.of(np.array([[0.0], [1.0], [5.0]]), 1).numbers.ravel()
        array([1, 0, 1])
        """
        count = min(count, len(X) - 1)
        parts = [_nearest(X, part, count) for part in _parts(len(X))]
        numbers, squares = (np.concatenate(each) for each in zip(*parts, strict=True))
        return cls(numbers, squares)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Votes of other samples, by the place that either has in the order of the other's neighbours.

    A sample counts as 1/max(5, place) to each other, and so does the other to it: near ones alike, and all beyond them
    still a little, as in Shapley values of a nearest-neighbour classifier.
    """

    weights: csr_array
    """(n, n), symmetric."""

    @classmethod
    def of(cls, neighbours: Neighbours) -> Ranked:
        """From the nearest samples; those beyond do not vote."""
        samples, count = neighbours.numbers.shape
        each = np.broadcast_to(1 / np.maximum(_NEAR, np.arange(1, count + 1)), (samples, count))
        starts = np.arange(0, samples * count + 1, count)
        one = csr_array((each.ravel(), neighbours.numbers.ravel(), starts), shape=(samples, samples))
        return cls(csr_array(one + one.T))

    def votes(self, targets: Floats) -> Floats:
        """Weighted means of the others' targets, (n, k).

        >>> near = Neighbours.of(np.array([[0.0], [1.0], [3.0]]), 1)      # the second is nearest to both others
        >>> Ranked.of(near).votes(np.array([[0.0], [3.0], [9.0]])).ravel()
        array([3., 3., 3.])
        """
        found: Floats = (self.weights @ targets) / self.totals[:, None]
        return found

    def felt(self, sample: int, moved: Floats) -> Floats:
        """What votes change by where a sample's target moves (k,), (n, k)."""
        found: Floats = self.weights[[sample]].toarray()[0][:, None] * (moved / self.totals[:, None])
        return found

    @cached_property
    def totals(self) -> Floats:
        """Of all votes on each sample, (n,)."""
        found: Floats = self.weights.sum(axis=1)
        return found


def _nearest(X: Floats, part: slice, count: int) -> tuple[Indices, Floats]:
    squares = squared_distances(X[part], X)
    rows = np.arange(part.start, part.stop)
    squares[rows - part.start, rows] = np.inf
    near = np.sort(np.argpartition(squares, count - 1, axis=1)[:, :count], axis=1)  # by number, so that ties go by it
    found = np.take_along_axis(squares, near, axis=1)
    order = np.argsort(found, axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(found, order, axis=1)


def _parts(samples: int, size: int = 1000) -> Iterator[slice]:
    for start in range(0, samples, size):
        yield slice(start, min(start + size, samples))


def _typical(squares: Floats) -> float:
    """The median over pairs that differ; 1 where none do."""
    apart = squares[squares > 0]
    return float(np.median(apart)) if len(apart) else 1.0
