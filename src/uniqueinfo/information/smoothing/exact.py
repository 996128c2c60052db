"""The full divergence between two steady states, each with a covariance of its own.

    KL(N(w, Σ) ‖ N(w₋, Σ₋)) = ½ [δᵀΣ₋⁻¹δ + tr(Σ₋⁻¹Σ) − d + log|Σ₋| − log|Σ|]

Beside ½ δᵀΣ⁻¹δ it shows what taking Σ₋ = Σ costs. Every removal needs the eigenvectors of its own Hessian and of its
own covariance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.information.measures import Conditioning, Smoothed
from uniqueinfo.information.smoothing.gaussian import Gaussian
from uniqueinfo.information.smoothing.gradients import State, curvature, row_space, typical_gradient
from uniqueinfo.removal.changes import Changes
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.types import Indices

_AFFORDABLE = 1e11  # cubed coordinates, each worth about twenty operations: minutes


class HasSteadyState(Protocol):
    """A smoothing by a steady state around given weights."""

    def gaussian(self, state: State, typical: float) -> Gaussian:
        """The steady state; `typical` is the squared length of a gradient before training."""


def exact_information(
    run: TrainedSystem, changes: Iterable[Changes], removals: int, smoothing: HasSteadyState
) -> Smoothed:
    """The divergence of every removal, and the worst conditioning met.

    Where a removed block alone held a direction, SGD has no noise there without it: the divergence is infinite, and
    what is returned is made by the floor and counted as such.
    """
    states = _States(run)
    d = states.all.dimensions
    if removals * d**3 > _AFFORDABLE:
        raise InputError(
            f"exact=True: {removals:,} removals of {d:,} coordinates each take an eigendecomposition of their own, "
            "which would take hours. Leave out fewer (groups=…), project to fewer coordinates, or leave exact=False."
        )
    typical = typical_gradient(run)
    here = smoothing.gaussian(states.all, typical)
    information, below = np.empty((2, removals))
    worst = here.conditioning
    for number, members, delta in _each(changes, states.kept):
        rest, basis = states.without(number, members, delta)
        there = smoothing.gaussian(rest, typical)
        information[number], below[number] = _divergence(here, there, delta, basis)
        worst = _worse(worst, there.conditioning)
    return Smoothed(information, below, worst)


class _States:
    """The training on all samples, and on all but some, in small."""

    def __init__(self, run: TrainedSystem) -> None:
        self.kept, self._run = row_space(run), run
        self.all = State.of(run)
        self._values = run.system.values[self.kept]
        self._rows = self.all.rows(slice(None))

    def without(self, number: int, members: Indices, delta: Tensor) -> tuple[State, Tensor]:
        """The state w − δ of the rest in the eigenbasis of its own Hessian, and that basis."""
        left = np.setdiff1d(np.arange(self._run.samples), members)
        if len(left) == 0:
            raise InputError(f"exact=True: group {number} is all the data; training on nothing has no steady state")
        gone = self._rows[torch.from_numpy(members).to(delta.device)].flatten(0, 1)
        values, basis = eigh(torch.diag(self._values) - gone.T @ gone)
        values = torch.where(values > self._run.system.negligible, values, 0.0)
        chosen = torch.from_numpy(left).to(delta.device)
        rows, misfit = self._rows[chosen], self.all.misfit[chosen] + self._rows[chosen] @ delta.T
        turned = rows @ basis
        mean = (misfit.transpose(1, 2) @ turned).mean(dim=0)
        h = curvature(self._run.training, values, len(left))
        return State(h, turned.__getitem__, misfit, mean), basis


def _each(changes: Iterable[Changes], kept: slice) -> Iterator[tuple[int, Indices, Tensor]]:
    """(number, members, δ in the row space (columns, rank)) of every removal."""
    for chunk in changes:
        yield from zip(chunk.numbers, chunk.members, chunk.delta.explicit()[..., kept], strict=True)


def _divergence(here: Gaussian, there: Gaussian, delta: Tensor, basis: Tensor) -> tuple[float, float]:
    """KL(N(δ, Σ) ‖ N(0, Σ₋)) with Σ₋ in another basis, and how much of its quadratic part lies below the floor."""
    moved = there.whiten((delta @ basis).flatten()).square()
    root = here.root()
    turned = (root.reshape(len(root), *delta.shape) @ basis).flatten(1)
    spread = float(there.whiten(turned).square().sum()) - len(root)
    found = (float(moved.sum()) + spread + there.log_det - here.log_det) / 2
    return found, min(found, float(moved[there.raised].sum()) / 2)


def _worse(one: Conditioning, other: Conditioning) -> Conditioning:
    return replace(
        one,
        condition_number=max(one.condition_number, other.condition_number),
        raised=max(one.raised, other.raised),
    )
