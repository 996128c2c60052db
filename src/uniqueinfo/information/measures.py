"""From changes to information.

With δ = w − w₋ the change of the weights when a sample (or a group) leaves, and σ = 1,

    unique information in the weights    SI   = ½ ‖δ‖², or ½ δᵀΣ⁻¹δ with a smoothing Σ
    in the function                      F-SI = ½ (1/m) Σ_j ‖f_w(x_j) − f_w₋(x_j)‖² = ½ δᵀFδ,   F = J_valᵀJ_val / m
    signed value                         (1/m) Σ_j ½‖f_w₋(x_j) − y_j‖² − ½‖f_w(x_j) − y_j‖² = F-SI − δᵀ ∇L_val

The value is what the validation loss gains when the sample leaves: positive for samples that help. By another loss
than squared error it is taken from the predictions themselves (see `judged`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from torch import Tensor

from uniqueinfo.information.effects import Effects, strongest
from uniqueinfo.information.judged import Judged
from uniqueinfo.removal.changes import Changes, Delta
from uniqueinfo.spectrum.probe import Probe, Target
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Measures:
    """One number per removal for each measure; None where validation samples or their targets are missing."""

    weight: Floats
    functional: Floats | None
    value: Floats | None
    smoothed: Smoothed | None
    """Information in the weights with another smoothing than the identity."""
    own: dict[int, Floats]
    """How the removed samples' own outputs moved, f_w − f_w₋: by size of the group, (groups, size, outputs)."""
    effects: Effects | None = None
    """The few validation samples that each removal moves most; where asked for."""
    kl: Floats | None = None
    """Mean KL of the validation predictions with and without the samples, in bits; of classifiers."""

    @property
    def information(self) -> Floats:
        """In the function, or in the weights where there are no validation samples."""
        return self.weight if self.functional is None else self.functional


@dataclass(frozen=True, eq=False)
class Wanted:
    """What to measure beside the size of the change."""

    target: Target | None = None
    """For functional information and value."""
    precision: Precision | None = None
    """For information in the weights with a smoothing."""
    probe: Probe | None = None
    """Where effects are felt."""
    effects: int = 0
    """How many of the strongest effects to keep of each removal."""
    judged: Judged | None = None
    """For the value (and the KL) by another loss than squared error."""


@dataclass(frozen=True)
class Conditioning:
    """How well the covariance of a smoothing can be inverted, and what was done about it."""

    condition_number: float
    """The largest eigenvalue over the smallest, before any was raised (no more than float64 can tell)."""
    floor: float
    """Eigenvalues below this share of the largest were raised to it."""
    raised: int
    """How many were raised."""
    dimensions: int
    """Of how many."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Information in the weights with a smoothing: one number per removal, and how far to trust it."""

    information: Floats
    below_floor: Floats
    """The part of each number that lies in directions raised to the floor: there the floor decides, not the data."""
    conditioning: Conditioning | None
    """None where Σ⁻¹ is known without inverting anything."""

    @property
    def share_below_floor(self) -> float:
        """The same part of all removals together, as a share of their sum."""
        total = float(self.information.sum())
        return float(self.below_floor.sum()) / total if total > 0 else 0.0


class Precision(Protocol):
    """Σ⁻¹ of a smoothing, as a quadratic form on the changes of one training."""

    @property
    def conditioning(self) -> Conditioning | None:
        """How Σ was inverted."""

    def of(self, delta: Delta) -> tuple[Tensor, Tensor]:
        """δᵀΣ⁻¹δ of every block, and the part of it that lies in directions raised to the floor."""


def measure(chunks: Iterable[Changes], removals: int, wanted: Wanted) -> Measures:
    """All measures in one pass over the removals, effects among them."""
    target, precision, judged = wanted.target, wanted.precision, wanted.judged
    weight, functional, value, kl, smoothed, below = np.empty((6, removals))
    valued, divergent = target is not None and target.gradient is not None, False
    own: dict[int, Floats] = {}
    felt = None
    if wanted.effects and wanted.probe is not None:
        felt = Effects.empty(removals, min(wanted.effects, wanted.probe.samples))
    for chunk in chunks:
        at, delta = chunk.numbers, chunk.delta
        weight[at] = _numpy(delta.square()) / 2
        if target is not None:
            functional[at] = _numpy(delta.quadratic(target.fisher)) / 2
            if judged is None and target.gradient is not None:
                value[at] = functional[at] - _numpy(delta.inner(target.gradient))
        if judged is not None:
            gained, divergence = judged(delta.explicit())
            valued, divergent = gained is not None, divergence is not None
            value[at] = 0.0 if gained is None else _numpy(gained)
            kl[at] = 0.0 if divergence is None else _numpy(divergence)
        if precision is not None:
            smoothed[at], below[at] = (_numpy(part) / 2 for part in precision.of(delta))
        if felt is not None and wanted.probe is not None:
            found = strongest(delta.explicit(), wanted.probe, wanted.effects)
            felt.validation[at], felt.output[at], felt.change[at] = found.validation, found.output, found.change
        moved = _numpy(delta.outputs(chunk.rows)).reshape(*chunk.members.shape, -1)
        size = chunk.members.shape[1]
        if size not in own:  # at its full size: many small arrays between large temporaries would scatter the memory
            own[size] = np.empty((chunk.of, *moved.shape[1:]))
        own[size][chunk.place] = moved
    return Measures(
        weight,
        functional if target is not None else None,
        value if valued else None,
        Smoothed(smoothed, below, precision.conditioning) if precision is not None else None,
        own,
        effects=felt,
        kl=kl if divergent else None,
    )


def _numpy(values: Tensor) -> Floats:
    found: Floats = values.cpu().numpy()
    return found
