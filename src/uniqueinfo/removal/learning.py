"""Learn from all samples by any loss, in as many stretches as the removals need, and say how exact that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.removal.blocks import Block, Everyone
from uniqueinfo.removal.course import Course, Stepped, Summed, follow, recorded
from uniqueinfo.removal.following import Following
from uniqueinfo.removal.settling import Optimum, Settling, settle
from uniqueinfo.removal.stepping import Stepping, Steps
from uniqueinfo.training import Auto, Converged, GradientFlow, Recorded, Training
from uniqueinfo.training.loss_names import LossFunction
from uniqueinfo.training.losses import Loss
from uniqueinfo.types import Floats, Indices

_FIRST, _MOST = 8, 64  # stretches: as many are tried first, and at most
_ENOUGH = 5e-3  # of a change, by its typical error: far below what scores of samples differ by
_PASSES = 8  # at most, where all pairs of samples are affordable
_RECORDED = 4  # along a training that happened, whose gradients are known less exactly than more passes would need
_NEWTON = 40  # steps, at most: a handful is usual
_AFFORDABLE = 4e12  # operations that passes over all pairs may take: about two minutes of one core
_LOOKED_AT = 8
"""Removals by which it is judged how many stretches are enough."""
_LONGEST = 1e5  # in times that the fastest direction takes
_TIMES = 40  # ends of stretches at which stopping is looked at
MOST_LOOKED_AT = 500
"""Samples whose leave-one-out loss is averaged."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """Weights after training by any loss, and how samples leave them."""

    how: Course | Optimum | Steps
    loss: Loss
    passes: int
    """Passes over all pairs of samples; 1 is of first order in the removal."""
    error: float
    """Of a change, typically, by half the stretches (and, with one pass, by what further passes would add)."""

    @property
    def end(self) -> Tensor:
        """Weights, (size,)."""
        return self.how.end

    @property
    def points(self) -> int:
        """At how many places a removal's weights are held."""
        return len(self.how.stretches) + 1 if isinstance(self.how, Course) else 2

    def leaving(self, everyone: Everyone | None) -> Callable[[Block], Tensor]:
        """From blocks to their changes δ, (removals, size)."""
        if isinstance(self.how, Steps):
            return Stepping(self.how, self.loss, everyone if self.passes > 1 else None)
        if isinstance(self.how, Course):
            return Following(self.how, self.loss, everyone, self.passes)
        return Settling(self.how, self.loss, everyone, self.passes)

    def settings(self) -> dict[str, Any]:
        """For the settings of scores."""
        found = {"passes": self.passes, "error": self.error}
        if isinstance(self.how, Steps):
            found["steps"] = int(self.how.training.length)
        return found | ({"stretches": len(self.how.stretches)} if isinstance(self.how, Course) else {})


def learn(summed: Summed, training: Training, some: Block, everyone: Everyone, outputs: int) -> Learnt:
    """Train on all samples; `some` are samples that leave alone, by which it is judged how exact it is."""
    loss = training.criterion
    if isinstance(training, Converged):
        passes = _passes(summed, outputs, stretches=_PASSES)
        optimum = settle(summed, training)
        if passes > 1:
            return Learnt(optimum, loss, _NEWTON, error=0.0)
        one, all_ = (Settling(optimum, loss, everyone, steps)(some) for steps in (1, _NEWTON))
        return Learnt(optimum, loss, passes, _difference(one, all_))
    if isinstance(training, Recorded):
        if Steps.affordable(summed, training):
            steps = Steps.of(summed, training)
            found, fewer = (Stepping(each, loss)(some) for each in (steps, steps.halved()))
            passes = 2 if steps.pairs_affordable(outputs) else 1
            return Learnt(steps, loss, passes, error=_difference(fewer, found) / 3)
        course = recorded(summed, training)
        coarse = recorded(summed, training, every=2)
        whole, half = (Following(each, loss)(some) for each in (course, coarse))
        passes = min(_RECORDED, _passes(summed, outputs, stretches=len(course.stretches)))
        return Learnt(course, loss, passes, error=_difference(half, whole) / 3)
    assert isinstance(training, Stepped)
    course = follow(summed, training, _FIRST)
    passes = _passes(summed, outputs, stretches=2 * _FIRST)
    before = Following(course, loss, everyone, 1)(some)
    error = float("inf")
    while error > _ENOUGH and len(course.stretches) < _MOST:
        finer = follow(summed, training, 2 * len(course.stretches))
        found = Following(finer, loss, everyone, 1)(some)
        error = _difference(before, found) / 3  # the error falls with the square of the stretches
        if len(finer.stretches) <= len(course.stretches):  # every step is a stretch: nothing is left to refine
            error = 0.0
        course, before = finer, found
    if passes == 1:
        error += _difference(before, Following(course, loss, everyone, 2)(some))
    return Learnt(course, loss, passes, error)


@dataclass(frozen=True, eq=False)
class LossCurve:
    """Leave-one-out loss against training time, by another loss than squared error."""

    lr: float
    times: Floats
    error: Floats
    """Mean over samples of ℓ(f₋ᵢ(xᵢ), yᵢ)."""
    loss: str | LossFunction

    @property
    def best(self) -> GradientFlow:
        """The training with the least error."""
        return GradientFlow(self.lr, float(self.times[self.error.argmin()]), loss=self.loss)

    def settings(self) -> dict[str, Any]:
        """For the settings of scores."""
        return {"lr": self.lr, "steps": self.times.tolist(), "loo_loss": self.error.tolist()}


def stopping_curve(summed: Summed, training: Auto, block: Block) -> LossCurve:
    """How well samples that leave alone are predicted without them, at the ends of many stretches of a long flow."""
    loss = training.criterion
    start = summed.gradient(torch.zeros(summed.size, dtype=torch.float64))
    largest = float(torch.linalg.eigvalsh(summed.curvature(nothing := torch.zeros_like(start), nothing))[-1])
    lr = summed.samples / largest if largest > 0 else 1.0
    course = follow(summed, GradientFlow(lr, _LONGEST, loss=training.loss), _TIMES)
    along = Following(course, loss)
    error, times, time = [], [], 0.0
    for stretch, delta in zip(course.stretches, along.along(block)[1:], strict=True):
        time += stretch.training.length
        outputs = block.some.outputs(stretch.end) - block.some.rows.each_moved(delta)
        times.append(time)
        error.append(float(loss.value(outputs, block.some.targets).mean()))
    return LossCurve(lr, np.array(times), np.array(error), training.loss)


def looked_at(samples: int, most: int = _LOOKED_AT) -> Indices:
    """A few samples, spread over all, each leaving alone: (samples, 1)."""
    return np.unique(np.linspace(0, samples - 1, min(most, samples)).round().astype(np.intp))[:, None]


def _passes(summed: Summed, outputs: int, stretches: int) -> int:
    pairs = float(summed.samples) ** 2 * outputs * summed.size
    return _PASSES if 8 * pairs * stretches * 3 <= _AFFORDABLE else 1


def _difference(one: Tensor, other: Tensor) -> float:
    """The typical relative difference of changes."""
    return float(((one - other).norm(dim=1) / other.norm(dim=1).clamp(min=1e-300)).median())
