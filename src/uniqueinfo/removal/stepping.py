"""How samples leave a recorded training by SGD, step by step: momentum swings, and flow of the same length does not.

The difference of the runs with and without a block takes the optimizer's own steps,

    v ← μ v + c [Σ_{others} Jᵀ(g(f) − g(f − Jδ)) + b] + λ δ,    δ ← δ − η v,

with outputs f and the push b of every step between those at its two checkpoints. Where all pairs of samples would take
too long, H₋ δ stands for the sum: first order in the removal, and one product of all removals for each step. Either way
this is for trainings of few enough steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from uniqueinfo.removal.blocks import Block, Everyone, Some, staying, together
from uniqueinfo.removal.course import Summed
from uniqueinfo.training import Recorded
from uniqueinfo.training.losses import Loss

Resistance = Callable[[int, float, Tensor], Tensor]
"""After which checkpoint, how far towards the next, and δ → how the others' gradients differ, (removals, size)."""

_AFFORDABLE = 4e12  # operations of all steps: about two minutes of one core


@dataclass(frozen=True, eq=False)
class Steps:
    """What the steps of a training need of all samples."""

    training: Recorded
    samples: int
    points: tuple[int, ...]
    """The checkpoints that are looked at."""
    curvatures: Tensor
    """Σ JᵀAJ at these, (points, size, size)."""
    pushes: Tensor
    """Σ Jᵀg at these, (points, size)."""

    @property
    def end(self) -> Tensor:
        """Weights count from where the training ended."""
        return torch.zeros_like(self.pushes[0])

    @classmethod
    def affordable(cls, summed: Summed, training: Recorded) -> bool:
        """Whether the optimizer's steps can be taken, and are few enough."""
        return training.is_sgd and 2.0 * training.length * summed.samples * summed.size**2 <= _AFFORDABLE

    def pairs_affordable(self, outputs: int) -> bool:
        """Whether every step can go through all pairs of samples."""
        each = 8.0 * self.samples**2 * outputs * len(self.end)
        return self.training.length * each <= _AFFORDABLE

    @classmethod
    def of(cls, summed: Summed, training: Recorded) -> Steps:
        """One pass over the samples for every checkpoint."""
        points = tuple(range(len(training.points)))
        return cls(
            training,
            summed.samples,
            points,
            curvatures=torch.stack([summed.curvature(point, point) for point in points]),
            pushes=torch.stack([summed.gradient(point) for point in points]),
        )

    def halved(self) -> Steps:
        """With every second checkpoint alone, and the last."""
        kept = sorted({*range(0, len(self.points), 2), len(self.points) - 1})
        points = tuple(self.points[at] for at in kept)
        return replace(self, points=points, curvatures=self.curvatures[kept], pushes=self.pushes[kept])


@dataclass(frozen=True, eq=False)
class Stepping:
    """Removals from the steps of a training."""

    steps: Steps
    loss: Loss
    everyone: Everyone | None = None
    """All samples, where pairs of them are affordable."""

    def __call__(self, block: Block) -> Tensor:
        """δ after the training, (removals, size)."""
        steps, training = self.steps, self.steps.training
        remaining = steps.samples - block.size or steps.samples
        scale = 1 / remaining if training.reduction == "mean" else 1.0
        share = block.size / steps.samples if training.reduction == "mean" else 0.0
        pushes = [self._pushed(block, block.some.outputs(point)) for point in steps.points]
        resist = self._first_order(block) if self.everyone is None else self._by_all(block, list(self.everyone()))
        delta = steps.pushes.new_zeros(block.removals, steps.pushes.shape[1])
        velocity = torch.zeros_like(delta)
        for number, (count, rate) in enumerate(training.rates(steps.points)):
            for step in range(count):
                late = step / count
                push = torch.lerp(pushes[number], pushes[number + 1], late)
                common = torch.lerp(steps.pushes[number], steps.pushes[number + 1], late)
                slope = scale * (resist(number, late, delta) + push - share * common)
                velocity = training.momentum * velocity + slope + training.weight_decay * delta
                delta = delta - rate * velocity
        return delta

    def _first_order(self, block: Block) -> Resistance:
        """H₋ δ, the curvature between that of the two checkpoints."""
        steps = self.steps
        own = [self._curvature(block, block.some.outputs(point)) for point in steps.points]

        def found(number: int, late: float, delta: Tensor) -> Tensor:
            whole = torch.lerp(steps.curvatures[number], steps.curvatures[number + 1], late)
            bent = torch.lerp(own[number], own[number + 1], late)
            moved = block.some.rows.each_moved(delta.repeat_interleave(block.size, dim=0)).reshape(block.removals, -1)
            return delta @ whole - self._together(block, (bent @ moved[..., None])[..., 0])

        return found

    def _by_all(self, block: Block, everyone: list[Some]) -> Resistance:
        """Σ_{others} Jᵀ(g(f) − g(f − Jδ)), whatever the curvature does."""
        points = self.steps.points
        others = [staying(block.members, some.numbers, some.initial) for some in everyone]

        def found(number: int, late: float, delta: Tensor) -> Tensor:
            total = torch.zeros_like(delta)
            for some, staying_ in zip(everyone, others, strict=True):
                outputs = torch.lerp(some.outputs(points[number]), some.outputs(points[number + 1]), late)
                after = some.gradients(self.loss, outputs - some.rows.moved(delta))
                total += some.rows.pushed((self.loss.gradient(outputs, some.targets) - after) * staying_)
            return total

        return found

    def _pushed(self, block: Block, outputs: Tensor) -> Tensor:
        """Σ Jᵀg over the samples of each removal, (removals, size)."""
        return self._together(block, self.loss.gradient(outputs, block.some.targets))

    def _curvature(self, block: Block, outputs: Tensor) -> Tensor:
        return together(self.loss.curvature(outputs, block.some.targets), block)

    def _together(self, block: Block, slopes: Tensor) -> Tensor:
        each = block.some.rows.each_pushed(slopes.reshape(block.removals * block.size, -1))
        return each.reshape(block.removals, block.size, -1).sum(dim=1)
