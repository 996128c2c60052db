"""What learning by another loss than squared error will take, before it is begun.

Most of it goes by the memory's speed, not by the number of operations: the loss of all pairs of samples, over and over.
So the very code is timed on a few made-up samples of the same shape, and what it takes grows from there:

    eigendecompositions      with the cube of the weights
    a sample's own stretch   with the samples, the stretches and the passes
    a pair of samples        with the square of the samples, the ends of stretches and the passes but one
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.removal.blocks import Block, Some
from uniqueinfo.removal.course import Point, follow
from uniqueinfo.removal.following import Following
from uniqueinfo.removal.learning import Expected
from uniqueinfo.removal.loss_curve import DECAYS, MOST_LOOKED_AT, TIMES
from uniqueinfo.removal.settling import Settling, settle
from uniqueinfo.removal.space import check_size
from uniqueinfo.removal.weighted import WeightedRows
from uniqueinfo.spectrum.rows import CHUNK_BYTES
from uniqueinfo.training import Auto, Converged, GradientDescent, GradientFlow, Training
from uniqueinfo.training.losses import Loss

_LEAVING, _STAYING = 64, 1000  # made-up samples: so many leave, of so many, as long as memory's speed is what counts
_WIDEST = 500  # weights of the trial: beyond, times are extrapolated
_STRETCHES, _NEWTON = 4, 40
_TEMPORARY = 6  # arrays of outputs of all pairs that are held at once
_GRADIENTS = 9  # over all samples, for each stretch
_FLOWS = 40  # distinct stretches of flows, whose poles are found once


@dataclass(frozen=True)
class Cost:
    """Time and memory."""

    seconds: float = 0.0
    bytes: int = 0


@dataclass(frozen=True)
class Sizes:
    """Of a problem; `side` is that of its matrix: columns of the rows in which it is followed."""

    samples: int
    validation: int
    per_sample: int
    columns: int
    side: int

    @property
    def outputs(self) -> int:
        """k."""
        return self.per_sample * self.columns

    @property
    def size(self) -> int:
        """How many weights are followed."""
        return self.columns * self.side


def learning_cost(sizes: Sizes, training: Training, flops_per_second: float) -> Cost:
    """Of a training by its own loss, removals included; what cannot be followed is refused."""
    check_size(sizes.size)
    n, size = sizes.samples, sizes.size
    chosen = GradientFlow(1.0, 1e3, loss=training.loss) if isinstance(training, Auto) else training
    expected = Expected.of(chosen, n, size, sizes.outputs)
    summed = 2 * n * sizes.per_sample * (size**2 + _GRADIENTS * 2 * size) / flops_per_second
    one = _decomposition(size) + summed
    times = _Times.of(sizes, chosen)
    seconds = expected.decompositions * (one + times.poles) + times.leaving(n, expected)
    seconds += 2 * n * sizes.validation * times.pair  # what predictions gain or lose
    matrices = 1.5 * expected.stretches + 4  # the course, and the coarser one before it
    held = 0
    if isinstance(training, Auto):
        seconds += len(DECAYS) * (TIMES + 1) * one + _FLOWS * times.poles
        seconds += len(DECAYS) * TIMES * min(n, MOST_LOOKED_AT) * times.own
        matrices, held = max(matrices, TIMES + 4), (TIMES + 1) * min(n, MOST_LOOKED_AT) * size
    return Cost(seconds, int(8 * (matrices * size**2 + held + _looked_at(sizes, expected))))


def _looked_at(sizes: Sizes, expected: Expected) -> float:
    """Numbers held while a chunk of removals looks at some of all samples: outputs, gradients, curvatures."""
    if expected.passes == 1:
        return 0.0
    k, points = sizes.outputs, 2 + expected.stretches
    removals = CHUNK_BYTES / (8 * (sizes.size * (3 * k + 4 * points) + 64 * k * (k + 1)))
    others = CHUNK_BYTES / (8 * sizes.per_sample * (sizes.side + 8 * sizes.columns))
    return min(sizes.samples, removals) * min(sizes.samples, others) * k * (k + _TEMPORARY)


@dataclass(frozen=True)
class _Times:
    """Seconds, each of one."""

    own: float
    """Sample over a stretch, or on its first step from an optimum."""
    pair: float
    """Pair of samples, looked at once."""
    again: float
    """Pair of samples through all steps from an optimum."""
    poles: float
    """Stretch whose poles are found; those of flows are found once for all."""

    @classmethod
    def of(cls, sizes: Sizes, training: Training) -> _Times:
        """By a trial no wider than is quick."""
        side = min(sizes.side, max(1, _WIDEST // sizes.columns))
        trial, wider = _Trial.like(sizes, side, training.criterion), sizes.side / side
        some = trial.block(_LEAVING)
        flow = GradientFlow(1e-3, 1.0, loss=training.loss)
        course = follow(trial, flow, _STRETCHES)
        first = _seconds(lambda: Following(course, trial.loss)(some))
        once = _seconds(lambda: Following(course, trial.loss)(some))
        twice = _seconds(lambda: Following(course, trial.loss, trial.everyone, 2)(some))
        pairs = some.removals * trial.samples
        found = cls(
            own=once / (some.removals * _STRETCHES) * wider**2,
            pair=max(0.0, twice - 2 * once) / (pairs * (_STRETCHES + 1)) * wider,
            again=0.0,
            poles=max(0.0, first - once) / _STRETCHES if isinstance(training, GradientDescent) else 0.0,
        )
        if not isinstance(training, Converged):
            return found
        optimum = settle(trial, training)
        alone = _seconds(lambda: Settling(optimum, trial.loss)(some))
        all_ = _seconds(lambda: Settling(optimum, trial.loss, trial.everyone, _NEWTON)(some))
        return cls(alone / some.removals * wider**2, found.pair, (all_ - alone) / pairs * wider, 0.0)

    def leaving(self, samples: int, expected: Expected) -> float:
        """Of all samples, one by one."""
        if expected.stretches == 0:
            return samples * self.own + (samples**2 * self.again if expected.passes > 1 else 0.0)
        looked = samples**2 * (expected.stretches + 1) * (expected.passes - 1)
        return samples * expected.stretches * expected.passes * self.own + looked * self.pair


@dataclass(frozen=True, eq=False)
class _Trial:
    """Made-up samples, and sums over them."""

    some: Some
    loss: Loss

    @classmethod
    def like(cls, sizes: Sizes, side: int, loss: Loss) -> _Trial:
        """Normal rows of this width, each sample of one class or counting one."""
        count = min(sizes.samples, _STAYING)
        generator = torch.Generator().manual_seed(0)
        shape = (count, sizes.per_sample, side)
        rows = torch.randn(shape, dtype=torch.float64, generator=generator)
        targets = torch.zeros(count, sizes.outputs, dtype=torch.float64)
        targets[np.arange(count), np.arange(count) % sizes.outputs] = 1.0
        found = WeightedRows(rows / max(1.0, sizes.per_sample * side / count) ** 0.5, sizes.columns)
        return cls(Some(np.arange(count), found, torch.zeros_like(targets), targets), loss)

    @property
    def size(self) -> int:
        """Weights."""
        return self.some.rows.size

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.some.numbers)

    def gradient(self, point: Point) -> Tensor:
        """Σ Jᵀg."""
        return self.some.gradient(self.loss, point)

    def curvature(self, start: Point, end: Point) -> Tensor:
        """Σ JᵀAJ."""
        return self.some.curvature(self.loss, (start, end))

    def everyone(self) -> Iterator[Some]:
        """All of them, at once."""
        yield self.some

    def block(self, most: int) -> Block:
        """The first few, leaving alone."""
        part, some = slice(0, min(most, self.samples)), self.some
        rows = WeightedRows(some.rows.rows[part], some.rows.columns)
        first = Some(some.numbers[part], rows, some.initial[part], some.targets[part])
        return Block(some.numbers[part][:, None], first)


def _decomposition(size: int) -> float:
    """A corner's time, grown with the cube of the side."""
    side = min(size, _WIDEST)
    matrix = torch.randn(side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return _seconds(lambda: torch.linalg.eigh(matrix @ matrix.T)) * (size / side) ** 3


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
