"""Following gradient flow in few gradients, by second-order Runge–Kutta–Chebyshev steps.

Flow dw/dt = −∇L(w) is stiff: plain steps must be shorter than 2/curvature, so that time T takes T·curvature/2 of them.
A leap of s stages is stable over a length of 0.65 s²/curvature, for s gradients. The leaps grow, as what is still
moving after time t moves at rates of 1/t: T·curvature = 2000 takes some 230 gradients, and no direction of a linear
network ends more than 0.6 % of its way from where flow brings it. Where the curvature grows on the way a leap is made
in halves. Where a network bends much, rounding alone may change where leaps end as much as one sample does: plain steps
do not (experiments `table1_cnn` and `table1_steps`). The method is that of Sommeijer, Shampine and Verwer (1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.polynomial import chebyshev
from torch import Tensor

Weights = dict[str, Tensor]
"""(copies, …): networks trained side by side."""
Slope = Callable[[Weights], Weights]

LEAPS = 24
"""Leaps that a training along flow takes; each ends √2 times as late as the one before, the first at 1/2896."""
_DAMPED = 2 / 13
"""The method's damping ε: it keeps the polynomial of every stage below 1 in size, so that errors die out."""
_FEWEST = 2
"""Stages of a leap at least: the method is of second order from two on."""
_MARGIN = 1.3
"""A leap is planned for this many times the curvature found where it begins, as that may grow on the way."""
_SURE = 0.9
"""Share of the stable reach that a leap may use, as its stages show a little less than the whole curvature."""
_SHORTEST = 2.0**-12
"""Share of a leap below which it is not halved any more: where that is unstable, halves will not help."""


class Stride(NamedTuple):
    """A leap, or a part of one."""

    length: float
    stages: int
    ends: int
    """The leap that is over with it; 0: none."""


def reached(leap: int) -> float:
    """The share of the whole time behind after this leap, 1 to `LEAPS`.

    >>> reached(LEAPS), reached(LEAPS - 2), reached(0)
    (1.0, 0.5, 0.0)
    """
    return 2.0 ** ((leap - LEAPS) / 2) if leap > 0 else 0.0


def gradients(stiffness: float) -> int:
    """How many a training of time × curvature = `stiffness` takes, where the curvature stays what it is.

    >>> gradients(2000.0)
    231
    """
    shares = [reached(leap) - reached(leap - 1) for leap in range(1, LEAPS + 1)]
    return sum(stages(_MARGIN * share * stiffness) for share in shares)


def stages(stiffness: float) -> int:
    """The least number whose leap is stable for length × curvature up to `stiffness`.

    >>> stages(1.0), stages(60.0), stages(6000.0)
    (2, 10, 96)
    """
    s = max(_FEWEST, math.floor(math.sqrt(1 + stiffness / (2 / 3))))
    while _coefficients(s).reach < stiffness:
        s += 1
    return s


def begin(
    start: Weights,
    slope: Slope,
    time: float,
    sharpness: Callable[[Weights], float],
    after: Callable[[int, Weights], None] = lambda leap, weights: None,
) -> tuple[Weights, tuple[Stride, ...]]:
    """The weights a time later, and the strides they took: stable for the curvature at both ends of each."""
    weights, sharp, taken = start, sharpness(start), list[Stride]()
    for number in range(1, LEAPS + 1):
        whole = time * (reached(number) - reached(number - 1))
        ahead = [whole]
        while ahead:
            length = ahead.pop()
            count = stages(_MARGIN * length * sharp)
            there, seen = leap(weights, slope, length, count)
            then = sharpness(there)
            if not length * max(seen, then) <= _coefficients(count).reach and length > _SHORTEST * whole:
                ahead += [length / 2, length / 2]
                continue
            weights, sharp = there, then
            taken.append(Stride(length, count, 0 if ahead else number))
        after(number, weights)
    return weights, tuple(taken)


def follow(
    start: Weights,
    slope: Slope,
    strides: tuple[Stride, ...],
    after: Callable[[int, Weights], None] = lambda leap, weights: None,
) -> Weights:
    """The weights after the strides of another training; only where they are unstable here, after halves of them."""
    weights = start
    for stride in strides:
        ahead = [stride.length]
        while ahead:
            length = ahead.pop()
            there, seen = leap(weights, slope, length, stride.stages)
            if length * seen <= _SURE * _coefficients(stride.stages).reach or length <= _SHORTEST * stride.length:
                weights = there
            else:
                ahead += [length / 2, length / 2]
        if stride.ends:
            after(stride.ends, weights)
    return weights


def leap(start: Weights, slope: Slope, length: float, count: int) -> tuple[Weights, float]:
    """The weights a length of time later, by this many stages, and the largest curvature seen between two of them.

    What is unstable outgrows all else within a leap, so that the stages then differ in its direction: ‖Δslope‖/‖Δw‖ of
    neighbours shows a curvature beyond the reach of the leap.

    >>> decay = lambda w: {"w": -3 * w["w"]}  # dw/dt = −3w
    >>> there, curvature = leap({"w": torch.ones(1, 1)}, decay, 0.03, 4)
    >>> round(float(there["w"]), 3), round(curvature, 3)  # e^−0.09
    (0.914, 3.0)
    """
    known = _coefficients(count)
    first = slope(start)
    before, now = start, {name: w + known.first * length * first[name] for name, w in start.items()}
    there, seen = first, []
    for μ, ν, step, pull in known.rest:
        here = slope(now)
        seen.append(_apart(here, there) / _apart(now, before))
        after = {
            name: ((1 - μ - ν) * w)
            .add_(now[name], alpha=μ)
            .add_(before[name], alpha=ν)
            .add_(here[name], alpha=step * length)
            .add_(first[name], alpha=pull * length)
            for name, w in start.items()
        }
        before, now, there = now, after, here
    return now, float(torch.stack(seen).nan_to_num(0.0, posinf=math.inf).max())


def _apart(left: Weights, right: Weights) -> Tensor:
    """Distances (copies,)."""
    parts = [torch.linalg.vector_norm((w - right[name]).flatten(1), dim=1) for name, w in left.items()]
    distances: Tensor = torch.linalg.vector_norm(torch.stack(parts), dim=0)
    return distances


@dataclass(frozen=True)
class _Coefficients:
    first: float
    rest: tuple[tuple[float, float, float, float], ...]
    """Of each further stage: of the stage before, of the one before that, of its slope and of the first slope."""
    reach: float
    """Length × curvature up to which the leap is stable."""


@cache
def _coefficients(count: int) -> _Coefficients:
    """Stages whose stability polynomial 1 + z + z²/2 + … is a shifted Chebyshev one, a_s + b_s T_s(w₀ + w₁z)."""
    w0 = 1 + _DAMPED / count**2
    T, dT, ddT = (
        np.array([chebyshev.chebval(w0, chebyshev.chebder(np.eye(count + 1)[j], order)) for j in range(count + 1)])
        for order in range(3)
    )
    w1 = dT[count] / ddT[count]
    b = np.empty(count + 1)
    b[2:] = ddT[2:] / dT[2:] ** 2
    b[:2] = b[2]
    a = 1 - b * T
    rest = tuple(
        (
            float(2 * b[j] * w0 / b[j - 1]),
            float(-b[j] / b[j - 2]),
            float(2 * b[j] * w1 / b[j - 1]),
            float(-a[j - 1] * 2 * b[j] * w1 / b[j - 1]),
        )
        for j in range(2, count + 1)
    )
    return _Coefficients(float(b[1] * w1), rest, float((w0 + 1) * ddT[count] / dT[count]))
