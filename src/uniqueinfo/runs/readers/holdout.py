"""Validation samples where the user has none: a share of every class, chosen once and for all by a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.types import Indices


def hold_out(labels: NDArray[Any], share: float, seed: int, where: object = "the data") -> tuple[Indices, Indices]:
    """Indices to train on and to validate on, each in order; at least one sample of every class is trained on.

    >>> train, val = hold_out(np.array([0] * 8 + [1] * 4), 0.25, seed=0)
    >>> len(train), [int((val < 8).sum()), int((val >= 8).sum())]
    (9, [2, 1])
    """
    if not 0 < share < 1:
        raise InputError(f"--holdout {share:g}: give a share above 0 and below 1")
    generator = np.random.default_rng(seed)
    strata = [np.arange(len(labels))]
    if labels.dtype.kind != "f" and labels.ndim == 1:
        strata = [np.flatnonzero(labels == name) for name in np.unique(labels)]
    held = [generator.permutation(found)[: min(round(share * len(found)), len(found) - 1)] for found in strata]
    val = np.sort(np.concatenate(held))
    if len(val) == 0:
        raise InputError(
            f"{where}: {len(labels)} samples are too few to hold {share:.0%} of each class out for validation; name "
            "--val, or raise --holdout"
        )
    return np.setdiff1d(np.arange(len(labels)), val), val
