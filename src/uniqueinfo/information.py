"""From changes to information.

With δ = w − w₋ the change of the weights when a sample (or a group) leaves, and σ = 1,

    unique information in the weights    SI   = ½ ‖δ‖²
    in the function                      F-SI = ½ (1/m) Σ_j ‖f_w(x_j) − f_w₋(x_j)‖² = ½ δᵀFδ,   F = J_valᵀJ_val / m
    signed value                         (1/m) Σ_j ½‖f_w₋(x_j) − y_j‖² − ½‖f_w(x_j) − y_j‖² = F-SI − δᵀ ∇L_val

The value is what the validation loss gains when the sample leaves: positive for samples that help.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.removal.changes import Changes, Metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measures:
    """One number per removal for each measure; None where validation samples or their targets are missing."""

    weight: Floats
    functional: Floats | None
    value: Floats | None
    own: dict[int, Floats]
    """How the removed samples' own outputs moved, f_w − f_w₋: by size of the group, (groups, size, outputs)."""


@dataclass(frozen=True, eq=False)
class Target:
    """What functional information and value look at: the Fisher matrix, and the gradient of the validation loss."""

    fisher: Metric
    gradient: Tensor | None
    """(columns, rank); None without validation targets."""


def measure(chunks: Iterable[Changes], removals: int, target: Target | None) -> Measures:
    """All measures in one pass over the removals."""
    weight, functional, value = np.empty((3, removals))
    own: dict[int, list[Floats]] = {}
    for chunk in chunks:
        at, delta = chunk.numbers, chunk.delta
        weight[at] = _numpy(delta.square()) / 2
        if target is not None:
            functional[at] = _numpy(delta.quadratic(target.fisher)) / 2
            if target.gradient is not None:
                value[at] = functional[at] - _numpy(delta.inner(target.gradient))
        moved = _numpy(delta.outputs(chunk.rows)).reshape(*chunk.members.shape, -1)
        own.setdefault(chunk.members.shape[1], []).append(moved)
    return Measures(
        weight,
        functional if target is not None else None,
        value if target is not None and target.gradient is not None else None,
        {size: np.concatenate(parts) for size, parts in own.items()},
    )


def _numpy(values: Tensor) -> Floats:
    found: Floats = values.cpu().numpy()
    return found
