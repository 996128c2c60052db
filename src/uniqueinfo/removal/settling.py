"""How samples leave a training by any loss, run to the end with weight decay: the loss is strictly convex.

The optimum is found by Newton's method. Without a block of samples it is found again from there by Newton's method,

    δ ← δ + (H₋ + λ)⁻¹ [Σ_{others} Jᵀg(f − Jδ) + λ(w − δ)],

whose first step needs the block alone: its rows are taken out of the curvature at the optimum. The following steps need
the gradient of each removal over all other samples. They solve with the curvature at w − δ by conjugate gradients, for
all removals of a chunk at once, with that of the first step as preconditioner, and go on until they stand still.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from uniqueinfo.errors import FitError
from uniqueinfo.removal.blocks import Block, Everyone, staying, together
from uniqueinfo.removal.course import Summed
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.training import Converged
from uniqueinfo.training.losses import Loss

_STILL = 1e-12  # of the size of the weights: a step below it is rounding
_CLOSE = 1e-6  # of a change: a step below it ends within rounding
_SOLVED = 1e-3  # of a Newton step: closer, and the next step gains nothing by it
_MOST_STEPS = 100
_HALVINGS = 12
_BEYOND = 0.5  # of the slope at the start of a step: a step may end where it rises by so much
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where training on all samples ends."""

    training: Converged
    samples: int
    end: Tensor
    """Weights, (size,)."""
    push: Tensor
    """Σ Jᵀg there, (size,)."""
    values: Tensor
    """Eigenvalues of Σ JᵀAJ there."""
    basis: Tensor


def settle(summed: Summed, training: Converged) -> Optimum:
    """Newton's method, with steps halved until the gradient falls."""
    decay = training.filter(summed.samples).decay
    weights = torch.zeros(summed.size, dtype=torch.float64)
    push = summed.gradient(weights)
    weights = weights.to(push.device)
    for _ in range(_MOST_STEPS):
        values, basis = eigh(summed.curvature(weights, weights))
        values = values.clamp(min=0)
        step = basis @ ((basis.T @ (push + decay * weights)) / (values + decay))
        if float(step.norm()) <= _STILL * max(1.0, float(weights.norm())):
            return Optimum(training, summed.samples, weights, push, values, basis)
        weights, push = _downhill(summed, decay, weights, push, step)
    raise FitError(f"{training!r}: Newton's method does not come to rest; add weight decay, or stop early")


def _downhill(summed: Summed, decay: float, weights: Tensor, push: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
    before = float((push + decay * weights).norm())
    share = 1.0
    while True:
        tried = weights - share * step
        found = summed.gradient(tried)
        # The gradient's length need not fall far from the optimum, but then its projection on the step does.
        along = float(step @ (found + decay * tried))
        if float((found + decay * tried).norm()) < before or along >= 0 or share < 1e-6:
            return tried, found
        share /= 2


@dataclass(frozen=True, eq=False)
class Settling:
    """Removals from an optimum."""

    optimum: Optimum
    loss: Loss
    everyone: Everyone | None = None
    """Needed for all steps but the first."""
    passes: int = 1
    """Steps, at most."""

    def __call__(self, block: Block) -> Tensor:
        """δ = w − w₋, (removals, size)."""
        found = self.optimum
        remaining = found.samples - block.size
        decay = found.training.filter(remaining or found.samples).decay
        outputs = block.some.outputs(found.end)
        rows = block.some.rows.rotated(found.basis).reshape(block.removals, -1, len(found.values))
        slope = self.loss.gradient(outputs, block.some.targets).reshape(block.removals, -1)
        curvature = together(self.loss.curvature(outputs, block.some.targets), block)
        pull = (found.push + decay * found.end) @ found.basis - torch.einsum("bkd,bk->bd", rows, slope)
        solve = partial(self._solved, rows, curvature, decay)
        delta = solve(pull)
        if self.passes > 1:
            assert self.everyone is not None
            again = _Newton(self.optimum, self.loss, block, self.everyone, decay, solve)
            delta = again.from_(delta, self.passes - 1)
        return delta @ found.basis.T

    def _solved(self, rows: Tensor, curvature: Tensor, decay: float, pull: Tensor) -> Tensor:
        """(H₋ + λ)⁻¹ of each removal's own vector, in the eigenbasis."""
        resolvent = 1 / (self.optimum.values + decay)
        scaled = rows * resolvent
        matrix = torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device) - curvature @ (scaled @ rows.mT)
        y = torch.linalg.solve(matrix, curvature @ (scaled @ pull[..., None]))
        found: Tensor = resolvent * pull + (scaled.mT @ y)[..., 0]
        return found


@dataclass(frozen=True, eq=False)
class _Newton:
    """Newton's method for a chunk of removals; vectors (removals, size) are in the eigenbasis of the optimum."""

    optimum: Optimum
    loss: Loss
    block: Block
    everyone: Everyone
    decay: float
    precondition: Callable[[Tensor], Tensor]

    def from_(self, delta: Tensor, steps: int) -> Tensor:
        """Go on from here, until all stand still or for so many steps.

        Close to its end a step gains three digits. Where it does not even halve the gradient, what is left of that is
        rounding: a change far smaller than the weights has fewer digits than they have.
        """
        pull = self._pull(delta)
        still = torch.zeros_like(delta[:, :1], dtype=torch.bool)
        for _ in range(steps):
            step = torch.where(still, 0.0, self._solved(delta, pull))
            before = self._length(pull)
            delta, pull = self._downhill(delta, pull, step, before)
            moved = step.norm(dim=1, keepdim=True) / delta.norm(dim=1, keepdim=True).clamp(min=_TINY)
            still |= (moved < _STILL) | ((moved < _CLOSE) & (self._length(pull) > before / 2))
            if bool(still.all()):
                return delta
        warnings.warn(
            f"Newton's method does not come to rest for {int((~still).sum())} removals; add weight decay",
            stacklevel=2,
        )
        return delta

    def _downhill(self, delta: Tensor, pull: Tensor, step: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """Whole steps; halves for those removals whose gradient they would make longer by more than rounding.

        Halves, too, where a step goes well beyond the least loss on its way: the curvature of a loss that grows like a
        line says nothing of where that is, and steps could go to and fro for ever.
        """
        share, least = torch.ones_like(before), _CLOSE * delta.norm(dim=1, keepdim=True)
        for _ in range(_HALVINGS):
            tried = delta + share * step
            found = self._pull(tried)
            beyond = _dot(step, found) < -_BEYOND * _dot(step, pull)
            longer = self._length(found) > before
            worse = (longer | beyond) & (share * step.norm(dim=1, keepdim=True) > least)
            if not bool(worse.any()):
                break
            share = torch.where(worse, share / 2, share)
        return tried, found

    def _length(self, pull: Tensor) -> Tensor:
        return _dot(pull, self.precondition(pull)).clamp(min=0).sqrt()

    def _solved(self, delta: Tensor, pull: Tensor) -> Tensor:
        """(H₋(w − δ) + λ)⁻¹ pull by preconditioned conjugate gradients."""
        weights = self._weights(delta)
        x, residual = torch.zeros_like(pull), pull
        z = self.precondition(residual)
        direction, fit = z, _dot(residual, z)
        enough = fit.sqrt() * _SOLVED
        for _ in range(_MOST_STEPS):
            image = self._curved(weights, direction)
            share = fit / _dot(direction, image).clamp(min=_TINY)
            x, residual = x + share * direction, residual - share * image
            z = self.precondition(residual)
            before, fit = fit, _dot(residual, z).clamp(min=0)
            if bool((fit.sqrt() <= enough).all()):
                break
            direction = z + fit / before.clamp(min=_TINY) * direction
        return x

    def _curved(self, weights: Tensor, vectors: Tensor) -> Tensor:
        basis = self.optimum.basis
        along = vectors @ basis.T
        total = self.decay * along
        for some in self.everyone():
            outputs = some.initial + some.rows.moved(weights)
            bent = some.bent(self.loss, outputs, some.rows.moved(along))
            total = total + some.rows.pushed(bent * staying(self.block.members, some.numbers, total))
        return total @ basis

    def _pull(self, delta: Tensor) -> Tensor:
        """The gradient of the loss without the block at w − δ."""
        weights = self._weights(delta)
        total = self.decay * weights
        for some in self.everyone():
            outputs = some.initial + some.rows.moved(weights)
            others = staying(self.block.members, some.numbers, total)
            total = total + some.rows.pushed(some.gradients(self.loss, outputs) * others)
        return total @ self.optimum.basis

    def _weights(self, delta: Tensor) -> Tensor:
        return self.optimum.end - delta @ self.optimum.basis.T


def _dot(one: Tensor, other: Tensor) -> Tensor:
    found: Tensor = torch.linalg.vecdot(one, other)[:, None]
    return found
