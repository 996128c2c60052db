"""The course of a training by any loss: stretches short enough that the curvature hardly changes in each.

The weights obey w' = −G(w) − λw with G(w) = Σ Jᵀg, g the gradient of each sample's loss in its outputs. Over a stretch,
with H the mean of Σ JᵀAJ at both of its ends, G(w) = G(w₀) + H(w − w₀) + (a small remainder), so that

    w₁ = w₀ − φ(H) [G(w₀) + λw₀] − ψ(H) [G(w₁) − G(w₀) − H(w₁ − w₀)]

where the last bracket is taken at a first guess of w₁. Stretches are equal in log(1 + time): early on, everything
changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.spectrum.eigensystem import eigh
from uniqueinfo.training import GradientDescent, GradientFlow, Recorded, Training
from uniqueinfo.training.propagation import StretchFilter
from uniqueinfo.types import Floats

Stepped = GradientDescent | GradientFlow
"""Trainings that go on for a time, and can be cut into stretches."""

_SUBSTEPS = (
    4  # of a stretch, in which the weights are followed with the same eigenvectors: passes over the data are cheap
)


Point = Tensor | int
"""A place on the course: weights, or the number of a checkpoint at which outputs are known."""


class Summed(Protocol):
    """Sums over all training samples, wherever they lie."""

    @property
    def size(self) -> int:
        """How many weights there are."""

    @property
    def samples(self) -> int:
        """How many samples there are."""

    def gradient(self, point: Point) -> Tensor:
        """G = Σ Jᵀg, (size,)."""

    def curvature(self, start: Point, end: Point) -> Tensor:
        """Σ JᵀAJ, the mean of the A at two points, (size, size)."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """A stretch of the training, and where it began and ended."""

    training: Stepped
    values: Tensor
    """Eigenvalues of Σ JᵀAJ, (size,)."""
    basis: Tensor
    """Its eigenvectors, (size, size)."""
    start: Point
    end: Point
    pushes: Tensor
    """G at both ends, (2, size)."""

    @property
    def largest(self) -> float:
        """The largest eigenvalue."""
        return float(self.values[-1].clamp(min=0))

    def filter(self, samples: int) -> StretchFilter:
        """Of this stretch of training on this many samples."""
        found = self.training.filter(samples)
        assert isinstance(found, StretchFilter)
        return found


@dataclass(frozen=True, eq=False)
class Course:
    """All stretches of a training on all samples."""

    training: Training
    samples: int
    stretches: tuple[Stretch, ...]

    @property
    def end(self) -> Tensor:
        """Weights after the training, (size,); zero where outputs after it are known and weights count from there."""
        last = self.stretches[-1]
        return torch.zeros_like(last.values) if isinstance(last.end, int) else last.end

    @property
    def points(self) -> list[Point]:
        """The ends of all stretches, the start first."""
        return [self.stretches[0].start, *(stretch.end for stretch in self.stretches)]


def follow(summed: Summed, training: Stepped, stretches: int) -> Course:
    """Train on all samples, in about so many stretches."""
    return Course(training, summed.samples, tuple(_stretches(summed, training, stretches)))


def reached(summed: Summed, course: Course, length: float) -> Tensor:
    """Weights on the way, after so many steps (of flow: a time): one step from where their stretch began."""
    begun = 0.0
    for stretch in course.stretches:
        assert isinstance(stretch.start, Tensor)
        part = length - begun
        if part <= 0 or (isinstance(stretch.training, GradientDescent) and round(part) == 0):
            return stretch.start
        if part < stretch.training.length:
            way = stretch.training.stretch(0.0, part)
            return _stepped(summed, way, stretch.start, stretch.pushes[0], stretch.values, stretch.basis, second=True)
        begun += stretch.training.length
    return course.end


def recorded(summed: Summed, training: Recorded, every: int = 1) -> Course:
    """The course of a training that happened, along all of its checkpoints or every second, third, …"""
    whole = training.stretches
    ends = sorted({*range(0, len(whole), every), len(whole)})
    found, first = [], summed.gradient(0)
    for start, end in pairwise(ends):
        values, basis = eigh(summed.curvature(start, end))
        last = summed.gradient(end)
        stretch = replace(whole[start], time=sum(part.time for part in whole[start:end]))
        found.append(Stretch(stretch, values, basis, start=start, end=end, pushes=torch.stack([first, last])))
        first = last
    return Course(training, summed.samples, tuple(found))


def _stretches(summed: Summed, training: Stepped, count: int) -> Iterator[Stretch]:
    weights = torch.zeros(summed.size, dtype=torch.float64)
    push = summed.gradient(weights)
    weights = weights.to(push.device)
    values, basis = eigh(summed.curvature(weights, weights))
    for start, end in _times(training, float(values[-1]), summed.samples, count):
        stretch = training.stretch(start, end)
        guess = _stepped(summed, stretch, weights, push, values, basis)
        values, basis = eigh(summed.curvature(weights, guess))
        training.check_stable(float(values[-1]), summed.samples)
        before, first = weights, push
        for part in _parts(stretch):
            weights = _stepped(summed, part, weights, push, values, basis, second=True)
            push = summed.gradient(weights)
        if not bool(torch.isfinite(weights).all()):
            raise InputError(
                f"{training!r}: training diverges at this rate; lower lr (and raise steps to train as long)"
            )
        yield Stretch(stretch, values, basis, start=before, end=weights, pushes=torch.stack([first, push]))


def _stepped(
    summed: Summed,
    training: Stepped,
    weights: Tensor,
    push: Tensor,
    values: Tensor,
    basis: Tensor,
    *,
    second: bool = False,
) -> Tensor:
    """One step of exponential Euler or, with `second`, its second order."""
    filter = training.filter(summed.samples)
    assert isinstance(filter, StretchFilter)
    z = values.clamp(min=0).cpu().numpy()
    whole, ramp = (torch.from_numpy(np.asarray(found)).to(values.device) for found in (filter(z), filter.ramp(z)))
    guess = weights - basis @ (whole * (basis.T @ (push + filter.decay * weights)))
    if not second:
        return guess
    change = basis.T @ (guess - weights)
    bent = basis.T @ (summed.gradient(guess) - push) - values * change
    return guess - basis @ (ramp * bent)


def _times(training: Stepped, largest: float, samples: int, count: int) -> Iterator[tuple[float, float]]:
    """The ends of the stretches: equal in log(1 + t/t₀), t₀ the time in which the fastest direction is learnt."""
    length = training.length
    filter = training.filter(samples)
    unit = length / max(1.0, filter.horizon * largest)
    ends: Floats = unit * np.expm1(np.linspace(0.0, math.log1p(length / unit), count + 1))
    if isinstance(training, GradientDescent):
        ends = np.round(ends)
    ends[-1] = length
    found = np.unique(ends).tolist()
    return pairwise(found)


def _parts(stretch: Stepped) -> Iterator[Stepped]:
    ends = np.linspace(0.0, stretch.length, _SUBSTEPS + 1)
    if isinstance(stretch, GradientDescent):
        ends = np.unique(np.round(ends))
    return (stretch.stretch(start, end) for start, end in pairwise(ends.tolist()))
