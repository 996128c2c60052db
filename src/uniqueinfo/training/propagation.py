"""One stretch of a training over poles: what becomes of a difference there was, and of a push that goes on.

Over a stretch of length τ in which the curvature stays as it is, a difference δ between two runs obeys
δ' = −(H + λ) δ − b(t), with a push b that goes evenly from b₀ to b₁. Then

    δ(τ) = E(H) δ(0) − φ(H) b₀ − ψ(H) (b₁ − b₀)

with E what is kept, φ the filter of the stretch and ψ its ramp. All three are written over the same poles, so that a
removal solves with them once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from uniqueinfo.errors import FitError
from uniqueinfo.training.algorithm import Filter
from uniqueinfo.training.rational import Complexes, Rational, ellipse_poles, fit
from uniqueinfo.types import Floats

_POINTS = 600  # per spacing: many times the number of poles
_PAIRS = (4, 8, 12, 16, 24)  # conjugate poles tried on an ellipse
_GOOD = 1e-9  # an error that nobody needs to improve
_TOLERATED = 1e-6


@runtime_checkable
class StretchFilter(Filter, Protocol):
    """The filter of a stretch of training that can be followed by another."""

    @property
    def unit(self) -> float:
        """What z + λ is multiplied by to be a number without a unit."""

    def of_unit(self) -> StretchFilter:
        """The same with unit 1 and without decay: hashable, and the same for many stretches."""

    def kept(self, z: Floats) -> Floats:
        """E(z): what is left of a difference."""

    def ramp(self, z: Floats) -> Floats:
        """ψ(z): what a push does that grows evenly from nothing."""


@dataclass(frozen=True, eq=False)
class Propagation:
    """E, φ and ψ of a stretch over common poles; of each conjugate pair only the upper pole is kept."""

    filter: StretchFilter
    poles: Complexes
    weights: Complexes
    """Of each function (3, poles)."""
    constants: Floats
    """Of each function (3,)."""
    error: float
    """The largest error of any of the three found on points the fit had not seen, relative to its own size."""

    def values(self, z: Floats) -> Floats:
        """The three functions themselves, (3, points)."""
        return np.stack([self.filter.kept(z), self.filter(z), self.filter.ramp(z)])


def propagation(filter: StretchFilter, largest: float) -> Propagation:
    """Poles of the filter on [0, largest], and the weights of all three functions over them.

    A filter is a function of z + λ in a unit of its own, so that few fits serve all: they are kept.

    >>> from uniqueinfo.training import FlowFilter
    >>> found = propagation(FlowFilter(horizon=10.0, decay=0.0), largest=3.0)
    >>> found.error < 1e-9
    True
    """
    unit = filter.unit
    reach = unit * (largest + filter.decay)
    if reach == 0:
        return Propagation(filter, np.empty(0, complex), np.empty((3, 0), complex), _at_zero(filter), error=0.0)
    found = _in_units(filter.of_unit(), _rounded(filter.of_unit(), reach))
    return Propagation(
        filter=filter,
        poles=found.poles / unit - filter.decay,
        weights=found.weights * np.array([1 / unit, 1.0, 1.0])[:, None],
        constants=found.constants * np.array([1.0, unit, unit]),
        error=found.error,
    )


def _at_zero(filter: StretchFilter) -> Floats:
    zero = np.zeros(1)
    return np.concatenate([filter.kept(zero), filter(zero), filter.ramp(zero)])


def _rounded(filter: StretchFilter, reach: float) -> float:
    """Up to a quarter power of two, so that few fits serve all, unless descent would swing there."""
    up = float(2.0 ** (np.ceil(4 * np.log2(reach)) / 4))
    return up if abs(float(filter.kept(np.array([up]))[0])) <= max(0.5, _least(filter, reach)) else reach


def _least(filter: StretchFilter, reach: float) -> float:
    """How much is kept at the far end itself: of a short time nearly all."""
    return abs(float(filter.kept(np.array([reach]))[0]))


@lru_cache(maxsize=512)
def _in_units(filter: StretchFilter, largest: float) -> Propagation:
    tried = [_weighed(filter, largest, _poles_of(filter, largest))]
    for pairs in _PAIRS:  # a few steps are polynomials, whose own poles lie at infinity
        if tried[-1].error <= _GOOD:
            break
        tried.append(_weighed(filter, largest, largest * ellipse_poles(pairs)))
    best = min(tried, key=lambda found: found.error)
    if best.error > _TOLERATED:
        raise FitError(
            f"{filter} on [0, {largest:.6g}] cannot be written over poles: it is off by {best.error:.1e}; "
            "take more steps, a lower rate, or gradient flow"
        )
    return best


def _poles_of(filter: StretchFilter, largest: float) -> Complexes:
    return fit(filter, largest).poles


def _weighed(filter: StretchFilter, largest: float, poles: Complexes) -> Propagation:
    """Weights by least squares, each function scaled to be of order one everywhere."""
    carrier = Rational(poles, np.empty(0, complex), 0.0, error=0.0)
    seen, fresh = (_points(filter, largest, offset) for offset in (0.0, 0.41))
    shift = filter.decay + 1 / filter.horizon
    basis, between = carrier.basis(seen), carrier.basis(fresh)
    weights, error = np.empty((3, basis.shape[1])), 0.0
    functions: list[tuple[Callable[[Floats], Floats], int]] = [(filter.kept, 0), (filter, 1), (filter.ramp, 1)]
    for number, (function, power) in enumerate(functions):
        scale = (seen + shift) ** power
        columns = basis * scale[:, None]
        norm = np.linalg.norm(columns, axis=0)
        weights[number] = np.linalg.lstsq(columns / norm, function(seen) * scale, rcond=1e-15)[0] / norm
        missed = (between @ weights[number] - function(fresh)) * (fresh + shift) ** power
        error = max(error, float(np.abs(missed).max()))
    real = int(carrier.is_real.sum())
    single, cos, sin = np.split(weights[:, 1:], [real, len(poles)], axis=1)
    order = np.argsort(~carrier.is_real, kind="stable")
    return Propagation(
        filter=filter,
        poles=poles[order],
        weights=np.concatenate([single + 0j, cos + 1j * sin], axis=1),
        constants=weights[:, 0],
        error=error,
    )


def _points(filter: Filter, largest: float, offset: float) -> Floats:
    """Even over the whole, and logarithmic towards both ends."""
    even = (np.arange(_POINTS) + offset) / (_POINTS - 1 + 2 * offset)
    near = min(1.0, (filter.decay + 1 / filter.horizon) / largest)
    log = np.geomspace(1e-6 * near * (1 + offset), 1.0, _POINTS)[:-1]
    return largest * np.unique(np.concatenate([[0.0, 1.0], even, log, 1 - log]))
