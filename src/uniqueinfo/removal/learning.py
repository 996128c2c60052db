"""Learn from all samples by any loss, in as many stretches as the removals need, and say how exact that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from uniqueinfo.removal.blocks import Block, Everyone
from uniqueinfo.removal.course import Course, Stepped, Summed, follow, recorded
from uniqueinfo.removal.following import Following
from uniqueinfo.removal.retracing import Retraced
from uniqueinfo.removal.settling import Optimum, Settling, settle
from uniqueinfo.training import Converged, Recorded, Training
from uniqueinfo.training.losses import Loss
from uniqueinfo.types import Indices

_FIRST, _MOST = 8, 64  # stretches: as many are tried first, and at most
_ENOUGH = 5e-3  # of a change, by its typical error: far below what scores of samples differ by
_PASSES = 8  # at most, where all pairs of samples are affordable
_RECORDED = 4  # along a training that happened, whose gradients are known less exactly than more passes would need
_NEWTON = 40  # steps, at most: a handful is usual
_AFFORDABLE = 4e12  # operations that passes over all pairs may take: about two minutes of one core
_USUAL, _SETTLED, _USUAL_STEPS = 32, 6, 8  # stretches and passes of a course, Newton steps of an optimum: mostly
_LOOKED_AT = 8
"""Removals by which it is judged how many stretches are enough."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """Weights after training by any loss, and how samples leave them."""

    how: Course | Optimum | Retraced
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
        if isinstance(self.how, Retraced):
            return self.how
        if isinstance(self.how, Course):
            return Following(self.how, self.loss, everyone, self.passes)
        return Settling(self.how, self.loss, everyone, self.passes)

    def settings(self) -> dict[str, Any]:
        """For the settings of scores."""
        found = {"passes": self.passes, "error": self.error}
        if isinstance(self.how, Retraced):
            found |= {"steps": len(self.how.training.steps), "gradients": len(self.how.rows.steps)}
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


def retraced(how: Retraced, some: Block) -> Learnt:
    """A training that happened, its steps taken again; how exact that is, half of its gradients say."""
    fewer = how.in_some_weights()
    whole, half = fewer(some), fewer.halved()(some)
    return Learnt(how, how.loss, 1, error=_difference(half, whole) / 3)


def looked_at(samples: int, most: int = _LOOKED_AT) -> Indices:
    """A few samples, spread over all, each leaving alone: (samples, 1)."""
    return np.unique(np.linspace(0, samples - 1, min(most, samples)).round().astype(np.intp))[:, None]


@dataclass(frozen=True)
class Expected:
    """What learning should take, before it is begun."""

    decompositions: int
    """Eigendecompositions of a matrix as large as the weights are many."""
    stretches: int
    """Of the course that samples leave; 0 where the training ends at an optimum."""
    passes: int
    """Those over all pairs of samples, and one more."""

    @classmethod
    def of(cls, training: Training, samples: int, size: int, outputs: int) -> Expected:
        """With as many stretches as are usual, of descent no more than there are steps.

        >>> from uniqueinfo.training import GradientFlow
        >>> Expected.of(GradientFlow(0.1, 50.0, loss="cross-entropy"), samples=1000, size=30, outputs=3)
        Expected(decompositions=59, stretches=32, passes=6)
        """
        if isinstance(training, Converged):
            return cls(_USUAL_STEPS, 0, _pairs_affordable(samples, size, outputs, _PASSES))
        tried = [_FIRST]
        while tried[-1] < min(_USUAL, training.length):
            tried.append(2 * tried[-1])
        stretches = int(min(tried[-1], training.length))
        passes = min(_SETTLED, _pairs_affordable(samples, size, outputs, 2 * _FIRST))
        return cls(sum(tried) + len(tried), stretches, passes)


def _passes(summed: Summed, outputs: int, stretches: int) -> int:
    return _pairs_affordable(summed.samples, summed.size, outputs, stretches)


def _pairs_affordable(samples: int, size: int, outputs: int, stretches: int) -> int:
    """How many passes there are: one where those over all pairs of samples would take too long."""
    return _PASSES if 8 * float(samples) ** 2 * outputs * size * stretches * 3 <= _AFFORDABLE else 1


def _difference(one: Tensor, other: Tensor) -> float:
    """The typical relative difference of changes."""
    return float(((one - other).norm(dim=1) / other.norm(dim=1).clamp(min=1e-300)).median())
