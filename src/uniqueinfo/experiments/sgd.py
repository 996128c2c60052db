"""Mini-batch SGD of linear regressions, many trainings side by side."""

from __future__ import annotations

import numpy as np

from uniqueinfo.types import Floats


def shuffled_sgd(X: Floats, y: Floats, rng: np.random.Generator, *, lr: float, batch_size: int, epochs: int) -> Floats:
    """One training for each data set, X (sets, n, d) and y (sets, n), each with an order of its own: weights (sets, d).

    The loss of a batch is the mean of ½(wᵀx − y)²; every epoch passes once over the samples, in a new order.

    >>> X, y = np.random.default_rng(0).normal(size=(2, 30, 3)), np.ones((2, 30))
    >>> w = shuffled_sgd(X, X.sum(axis=2), np.random.default_rng(1), lr=0.1, batch_size=5, epochs=200)
    >>> bool(np.allclose(w, 1.0))  # without noise in the targets every batch agrees
    True
    """
    sets, n, d = X.shape
    flat = np.concatenate([X, y[..., None]], axis=2).reshape(-1, d + 1).T.copy()
    first = n * np.arange(sets)
    passed = np.empty((d + 1, n, sets))  # sets last: a step is a few long, contiguous operations
    w = np.zeros((d, sets))
    for _ in range(epochs):
        order = rng.integers(2**32, size=(sets, n), dtype=np.uint32).argsort(axis=1)
        at = (first[:, None] + order).T.copy()
        for numbers, out in zip(flat, passed, strict=True):
            numbers.take(at, out=out, mode="clip")  # nothing to clip: the mode that writes straight into `out`
        for start in range(0, n, batch_size):
            batch = passed[:, start : start + batch_size]
            x, wanted = batch[:d], batch[d]
            misfit = (x * w[:, None]).sum(axis=0) - wanted
            w -= lr * (x * misfit).mean(axis=1)
    return w.T
