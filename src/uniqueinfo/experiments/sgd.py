"""Mini-batch SGD of linear regressions, many trainings side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shuffled_sgd(X: Floats, y: Floats, rng: np.random.Generator, *, lr: float, batch_size: int, epochs: int) -> Floats:
    """One training for each data set, X (sets, n, d) and y (sets, n), each with an order of its own: weights (sets, d).

    The loss of a batch is the mean of ½(wᵀx − y)²; every epoch passes once over the samples, in a new order.

    >>> X, y = np.random.default_rng(0).normal(size=(2, 30, 3)), np.ones((2, 30))
    >>> w = shuffled_sgd(X, X.sum(axis=2), np.random.default_rng(1), lr=0.1, batch_size=5, epochs=200)
    >>> bool(np.allclose(w, 1.0))  # without noise in the targets every batch agrees
    True
    """
    sets, n, d = X.shape
    samples = np.concatenate([X, y[..., None]], axis=2)
    order = np.tile(np.arange(n, dtype=np.int32), (sets, 1))
    each = np.arange(sets)[:, None]
    w = np.zeros((d, sets))  # sets last: a step is a few long, contiguous operations
    for _ in range(epochs):
        rng.permuted(order, axis=1, out=order)
        passed = np.ascontiguousarray(samples[each, order].transpose(1, 2, 0))
        for start in range(0, n, batch_size):
            batch = passed[start : start + batch_size]
            x, wanted = batch[:, :d], batch[:, d]
            misfit = (x * w).sum(axis=1) - wanted
            w -= lr * (x * misfit[:, None]).mean(axis=0)
    return w.T
