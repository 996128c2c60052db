"""Following gradient flow in few gradients, by second-order Runge–Kutta–Chebyshev steps.

Flow dw/dt = −∇L(w) is stiff: plain steps must be shorter than 2/curvature, so that time T takes T·curvature/2 of them.
A leap of s stages is stable over a length of 0.65 s²/curvature, for s gradients. The leaps grow, as what is still
moving after time t moves at rates of 1/t: T·curvature = 2000 takes some 220 gradients, and no direction of a linear
network ends more than 0.6 % of its way from where flow brings it. The method is that of Sommeijer, Shampine and Verwer
(1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import chebyshev
from torch import Tensor

Weights = dict[str, Tensor]

LEAPS = 24
"""Each ends √2 times as late as the one before: from 1/2896 of the time to all of it."""
_DAMPED = 2 / 13  # keeps every stage's polynomial away from ±1, so that errors die out
_FEWEST = 2


def reached(leap: int) -> float:
    """The share of the whole time behind after this leap, 1 to `LEAPS`.

    >>> reached(LEAPS), reached(LEAPS - 2), reached(0)
    (1.0, 0.5, 0.0)
    """
    return 2.0 ** ((leap - LEAPS) / 2) if leap > 0 else 0.0


def stages(stiffness: float) -> int:
    """The least number whose leap is stable for length × curvature up to `stiffness`.

    >>> stages(1.0), stages(60.0), stages(6000.0)
    (2, 10, 96)
    """
    s = max(_FEWEST, math.floor(math.sqrt(1 + stiffness / (2 / 3))))
    while _coefficients(s).reach < stiffness:
        s += 1
    return s


def leap(start: Weights, slope: Callable[[Weights], Weights], length: float, count: int) -> Weights:
    """The weights a length of time later, by this many stages.

    >>> import torch
    >>> decay = lambda w: {"w": -w["w"]}  # dw/dt = −w
    >>> round(float(leap({"w": torch.tensor(1.0)}, decay, 0.1, 4)["w"]), 3)  # e^−0.1
    0.905
    """
    known = _coefficients(count)
    first = slope(start)
    before, now = start, {name: w + known.first * length * first[name] for name, w in start.items()}
    for μ, ν, step, pull in known.rest:
        here = slope(now)
        after = {
            name: (1 - μ - ν) * w
            + μ * now[name]
            + ν * before[name]
            + (step * length) * here[name]
            + (pull * length) * first[name]
            for name, w in start.items()
        }
        before, now = now, after
    return now


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
