"""How long training again will take, told from a few steps; and what to leave out where that is too long.

Fewer trainings come first. Then fewer steps of the same training time: steps as long as the curvature allows, of rate
1/c, and momentum μ, with which each goes as far as 1/(1 − μ) of them. That ends where the training ends, but for
directions that are still on their way; how far apart the two can be is known from their filters, and is bounded.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from uniqueinfo.baselines.descent import Descent, Followed
from uniqueinfo.baselines.stabilized import LEAPS, gradients
from uniqueinfo.errors import InputError
from uniqueinfo.progress import in_words
from uniqueinfo.training import GradientDescent, GradientFlow

_TRIED = 3
"""Gradients that are timed; only the first where it takes long."""
_LONG = 1.0
"""Seconds of a gradient from which on one is enough."""
_LOOKS = 10, 2
"""Looks at the curvature along flow: at the start, and after each leap; all in the first training."""
_MOMENTA = (0.0, 0.5, 0.7, 0.8, 0.9)
"""Of shorter trainings, the exactest first."""
_GROWTH = 1.3
"""Times the curvature at the start that steps are to be stable for, as it may grow on the way."""
_APART = 0.01
"""Share of its way by which a direction may end elsewhere in a shorter training, if the network were its linearization.

Networks themselves are less forgiving: one that learns its features, trained in 29 steps for 2,000, ends 4 % elsewhere
by this measure, and its samples in another order.
"""
_SURE = 0.8
"""Share of a budget that is planned for, as steps take longer on a machine that gets busy."""


@dataclass(frozen=True, eq=False)
class Speed:
    """Seconds that the steps of a network take on this machine, as busy as it is now."""

    descent: Descent
    alone: float
    """Of one gradient."""
    together: float
    """Of one gradient of `copies` side by side."""
    copies: int

    @classmethod
    def of(cls, descent: Descent, copies: int) -> Speed:
        """From a few gradients at the start."""
        alone = _gradient_seconds(descent, 1)
        return cls(descent, alone, alone if copies == 1 else _gradient_seconds(descent, copies), copies)

    def steps(self, training: Followed) -> int:
        """Gradients of one training."""
        if isinstance(training, GradientDescent):
            return int(training.steps)
        return gradients(training.lr * training.time * self.curvature)

    def seconds(self, training: Followed, trainings: int) -> float:
        """Of training with all samples, and then so many times without some."""
        steps = self.steps(training)
        found = steps * (self.alone + self.together * math.ceil(trainings / self.copies))
        if isinstance(training, GradientFlow):
            found += self._looked[1] * (_LOOKS[0] + _LOOKS[1] * LEAPS)
        return found

    @property
    def curvature(self) -> float:
        """Of the loss at the start: the largest."""
        return self._looked[0]

    @cached_property
    def _looked(self) -> tuple[float, float]:
        """At the start, and the seconds of one look at it."""
        started = time.perf_counter()
        found = self.descent.sharpness()({name: w[None] for name, w in self.descent.start.items()})
        return found, (time.perf_counter() - started) / _LOOKS[0]


@dataclass(frozen=True)
class Plan:
    """What will be done, and how long it should take."""

    training: Followed
    trainings: int
    """Without some samples; one with all comes first."""
    steps: int
    """Gradients of each."""
    seconds: float
    reduced: tuple[str, ...] = ()
    """What was left out to end in time."""

    @property
    def sentence(self) -> str:
        """For people.

        >>> Plan(GradientDescent(lr=0.1, steps=1000), 12, steps=1000, seconds=252.0).sentence
        'Training once with all samples and 12 times without one, 1,000 steps each: about 4 min 12 s.'
        """
        said = (
            f"Training once with all samples and {self.trainings} times without one, {self.steps:,} steps each: about "
            f"{in_words(self.seconds)}."
        )
        return " ".join([said, *(f"To end in time: {part}." for part in self.reduced)])


def plan(
    speed: Speed, training: Followed, trainings: int, *, budget: float | None = None, least: int | None = None
) -> Plan:
    """All that was asked for; with a budget in seconds, as much as fits, but no fewer than `least` trainings.

    What would clearly not fit is refused.
    """
    if budget is None or speed.seconds(training, trainings) <= _SURE * budget:
        return Plan(training, trainings, speed.steps(training), speed.seconds(training, trainings))
    fewest = trainings if least is None else min(least, trainings)
    ways: list[Followed] = [training, *shorter(training, speed)]
    for way in ways:
        fitting = [count for count in range(trainings, fewest - 1, -1) if speed.seconds(way, count) <= _SURE * budget]
        if fitting:
            return _reduced(speed, way, fitting[0], asked=training, wanted=trainings)
    quickest = min(ways, key=lambda way: speed.seconds(way, fewest))
    needed = speed.seconds(quickest, fewest)
    if needed > budget:
        raise InputError(
            f"budget: {in_words(budget)} is too short. The least that says something is {fewest} trainings of "
            f"{speed.steps(quickest):,} steps, which take about {in_words(needed)} here; give a budget of "
            f"{in_words(needed / _SURE)} or more, or none"
        )
    return _reduced(speed, quickest, fewest, asked=training, wanted=trainings)


def shorter(training: Followed, speed: Speed) -> list[GradientDescent]:
    """Trainings of the same time in fewer steps, the exactest first; none for mini-batches, whose noise is theirs."""
    if speed.descent.batch is not None or not 0 < speed.curvature < math.inf:
        return []
    flow = training.flow() if isinstance(training, GradientDescent) else training
    lr, length = 1 / (_GROWTH * speed.curvature), flow.lr * flow.time
    found: list[GradientDescent] = []
    before = speed.steps(training)
    for momentum in _MOMENTA:
        steps = max(1, round(length * (1 - momentum) / lr))
        exact = length * (1 - momentum) / steps  # the rate at which whole steps take the same time
        other = GradientDescent(exact, steps, training.weight_decay, momentum, training.reduction, training.loss)
        if steps < before and _apart(training, other, speed) <= _APART:
            found.append(other)
            before = steps
    return found


def _apart(training: Followed, other: Followed, speed: Speed) -> float:
    """By which share of its way a direction of any curvature can end elsewhere: |z φ(z) − z φ'(z)| at its largest."""
    count = len(speed.descent.targets)
    z = np.geomspace(1e-6, 1.0, 500) * speed.curvature * (count if training.reduction == "mean" else 1)
    return float(np.abs(z * (training.filter(count)(z) - other.filter(count)(z))).max())


def _reduced(speed: Speed, way: Followed, trainings: int, *, asked: Followed, wanted: int) -> Plan:
    steps = speed.steps(way)
    said = [f"{trainings} samples in place of {wanted}"] if trainings < wanted else []
    if way != asked:
        said.append(f"{way.words()} in place of {asked.words()}, for the same time")
    return Plan(way, trainings, steps, speed.seconds(way, trainings), tuple(said))


def _gradient_seconds(descent: Descent, copies: int) -> float:
    """The shortest of a few."""
    count = len(descent.targets)
    kept = torch.ones(copies, count, dtype=descent.targets.dtype, device=descent.targets.device)
    weights = {name: w.expand(copies, *w.shape).clone() for name, w in descent.start.items()}
    some = torch.arange(min(descent.batch or count, count))
    found = math.inf
    for _ in range(_TRIED):
        started = time.perf_counter()
        descent.slope(weights, kept, some)
        found = min(found, time.perf_counter() - started)
        if found > _LONG:
            break
    return found
