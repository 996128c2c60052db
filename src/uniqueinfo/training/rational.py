"""A filter on an interval as poles and weights: φ(z) ≈ c₀ + Σⱼ cⱼ/(z − pⱼ).

Removing samples changes a resolvent (H − p)⁻¹ in closed form, so a filter written over poles can be removed from in
closed form. By Cauchy interlacing the spectrum after any removal stays inside [0, λmax]: one fit serves every subset.

What is fitted and measured is not φ but g(z) = φ(z)·(z + c), c = λ + 1/horizon. A filter falls from its horizon at
z = 0 to 1/z, over many decades for long training; g stays of order one, so its error is φ's error relative to φ's own
size everywhere: for the directions learnt long ago as for those that training has barely reached.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import AAA
from threadpoolctl import ThreadpoolController

from uniqueinfo.errors import FitError
from uniqueinfo.training.algorithm import Filter
from uniqueinfo.training.converged import ConvergedFilter
from uniqueinfo.training.descent import MomentumFilter
from uniqueinfo.types import Floats

Complexes = NDArray[np.complex128]

_EPS = float(np.finfo(np.float64).eps)
_AIM = 1e-11  # a removal is about 1/n of what was learnt: at n = 10,000 this still leaves its seven digits
_SAMPLES = 400  # per spacing; the spacings overlap, and the error is measured on points between them
_MANY = (96, 128, 192, 256)  # pairs of poles for a filter that swings often, each with as many more points
_POINTS_PER_PAIR = 8
_FEW_STEPS = 400  # the most that so many poles can follow


@dataclass(frozen=True, eq=False)
class Rational:
    """A real function with poles off the interval; of each conjugate pair only the upper pole is kept.

    >>> half = Rational(poles=np.array([-2.0 + 0j]), weights=np.array([1.0 + 0j]), constant=0.0, error=0.0)
    >>> half(np.array([0.0, 2.0]))
    array([0.5 , 0.25])
    """

    poles: Complexes
    weights: Complexes
    constant: float
    error: float
    """The largest error of φ(z)·(z + c) found on points the fit had not seen, rounding of the sum included."""

    def __call__(self, z: Floats) -> Floats:
        """The value at z."""
        values: Floats = self.basis(z) @ self.real_weights
        return values

    @property
    def is_real(self) -> NDArray[np.bool_]:
        """Which poles are single and real (the others stand for a conjugate pair)."""
        return np.equal(self.poles.imag, 0)

    @property
    def functions(self) -> int:
        """How many real functions of z carry it: a constant, real poles, and two for every pair."""
        return int(self.constant != 0) + len(self.poles) + int((~self.is_real).sum())

    @property
    def real_weights(self) -> Floats:
        """The weights over `basis`."""
        return np.concatenate([[self.constant], self.fold(self.weights)])

    def basis(self, z: Floats) -> Floats:
        """Real columns (points × columns): 1, then 1/(z − p) of real poles, then 2 Re and −2 Im of the pairs'."""
        real = self.is_real
        single = 1 / (z[:, None] - self.poles[real].real)
        pair = 2 / (z[:, None] - self.poles[~real])
        return np.concatenate([np.ones((len(z), 1)), single, pair.real, -pair.imag], axis=1)

    def stretched(self, largest: float) -> Rational:
        """φ(z/largest)/largest: of a filter on [0, 1], the same training on [0, largest].

        >>> unit = Rational(poles=np.array([-1.0 + 0j]), weights=np.array([3.0 + 0j]), constant=0.5, error=0.0)
        >>> float(unit.stretched(4.0)(np.array([2.0]))[0]) == float(unit(np.array([0.5]))[0]) / 4
        True
        """
        return replace(self, poles=self.poles * largest, constant=self.constant / largest)

    def fold(self, values: Complexes) -> Floats:
        """One complex value per pole → one real value per column of `basis`, the constant's left out."""
        real = self.is_real
        return np.concatenate([values[real].real, values[~real].real, values[~real].imag])


def fit(filter: Filter, largest: float, tolerance: float = 1e-8) -> Rational:
    """Poles and weights of a filter on [0, largest], to the tolerance or not at all.

    >>> from uniqueinfo.training import FlowFilter
    >>> flow = FlowFilter(horizon=100.0, decay=0.0)
    >>> approximation = fit(flow, largest=3.0)
    >>> approximation.error < 1e-11
    True
    >>> z = np.linspace(0, 3, 7)
    >>> bool(np.allclose(approximation(z), flow(z), rtol=1e-10))
    True
    """
    if isinstance(filter, ConvergedFilter):
        return Rational(np.array([-filter.decay + 0j]), np.array([1.0 + 0j]), 0.0, error=0.0)
    if largest == 0:
        return Rational(np.empty(0, complex), np.empty(0, complex), float(filter(np.zeros(1))[0]), error=0.0)
    with _libraries().limit(limits=1, user_api="blas"):  # matrices this small only lose by a second thread
        best = _best(filter, largest, tolerance)
    if best.error <= tolerance:
        return best
    raise FitError(
        f"{filter} on [0, {largest:.6g}] cannot be written over poles to {tolerance:.1e}: the best fit found is off "
        f"by {best.error:.1e}. Training that still oscillates at its end has such filters: take more steps, a lower "
        "rate, or gradient flow."
    )


@cache
def _libraries() -> ThreadpoolController:
    """Those whose threads can be limited, found once: looking through all that is loaded takes as long as a fit."""
    return ThreadpoolController()


def _best(filter: Filter, largest: float, tolerance: float) -> Rational:
    """The first fit that is good enough for anyone, or the best of those tried; many poles only where few fail."""
    problem, tried = _Problem(filter, largest), []
    for poles in _candidates(problem):
        tried.append(problem.weigh(poles))
        if tried[-1].error <= _AIM:
            return tried[-1]
    few = isinstance(filter, MomentumFilter) and filter.steps <= _FEW_STEPS
    for pairs in _MANY if few else ():
        best = min(tried, key=lambda found: found.error)
        if best.error <= tolerance:
            return best
        tried.append(_Problem(filter, largest, _POINTS_PER_PAIR * pairs).weigh(ellipse_poles(pairs)))
    return min(tried, key=lambda found: found.error)


class _Problem:
    """One filter on one interval, in the unit u = z/largest: where to sample it, and how well poles do."""

    def __init__(self, filter: Filter, largest: float, samples: int = _SAMPLES) -> None:
        self.filter, self.largest = filter, largest
        self.shift = (filter.decay + 1 / filter.horizon) / largest
        self.time = filter.horizon * largest
        self.points = self._grid(samples, offset=0.0)
        self.values = self._scaled(self.points)
        self.fresh = self._grid(samples + samples // 3, offset=0.37)
        self.fresh_values = self._scaled(self.fresh)

    def weigh(self, poles: Complexes) -> Rational:
        """Weights by real least squares: AAA's own residues would lose half of the digits."""
        poles = np.sort_complex(poles[poles.imag >= 0])
        basis = Rational(poles * self.largest, np.empty(0, complex), 0.0, error=0.0).basis
        columns = basis(self.points * self.largest) * (self.points + self.shift)[:, None]
        scale = np.linalg.norm(columns, axis=0)
        weights = np.linalg.lstsq(columns / scale, self.values, rcond=_EPS)[0] / scale
        terms = basis(self.fresh * self.largest) * (self.fresh + self.shift)[:, None] * weights
        rounding = _EPS * np.abs(terms).sum(axis=1).max()
        error = np.abs(terms.sum(axis=1) - self.fresh_values).max() + rounding
        real = int((poles.imag == 0).sum())
        single, cos, sin = np.split(weights[1:], [real, real + len(poles) - real])
        order = np.argsort(poles.imag != 0, kind="stable")
        folded = np.asarray(np.concatenate([single, cos + 1j * sin]) / self.largest, dtype=np.complex128)
        return Rational(poles[order] * self.largest, folded, float(weights[0]) / self.largest, float(error))

    def _scaled(self, u: Floats) -> Floats:
        """g(z) = φ(z)(z + c), which is of order one."""
        return self.filter(u * self.largest) * (u + self.shift) * self.largest

    def _grid(self, count: int, offset: float) -> Floats:
        """Points that see every scale: logarithmic towards both ends, even over the whole and over its start."""
        even = (np.arange(count) + offset) / (count - 1 + 2 * offset)
        near = min(1.0, self.shift)
        log = np.geomspace(1e-6 * near * (1 + offset), 1.0, count)[:-1]
        return np.unique(np.concatenate([[0.0, 1.0], even, even * min(1.0, 30 / self.time), log, 1 - log]))


def _candidates(problem: _Problem) -> Iterator[Complexes]:
    """Pole sets to try, in the unit interval's coordinates, cheapest first."""
    yield _adaptive_poles(problem)
    for pairs in (8, 12, 16, 24, 32, 48, 64):
        yield ellipse_poles(pairs)


def _adaptive_poles(problem: _Problem) -> Complexes:
    """AAA's poles, off the interval, and one at −c for the factor that g took out of φ.

    AAA runs in v = u/(u + c), where everything a filter does happens at a scale of order one, however long the
    training; in u itself its poles would carry rounding errors of the interval's size, not of their distance from it.
    """
    v, kept = np.unique(problem.points / (problem.points + problem.shift), return_index=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # whether it converged is judged by the error on fresh points
        found = AAA(v, problem.values[kept], rtol=1e-13, max_terms=60).poles()
    found = found[found != 1]
    found = problem.shift * found / (1 - found)
    flat = np.abs(found.imag) <= 1e-9 * np.abs(found)
    found[flat] = found[flat].real
    distance = np.abs(found - np.clip(found.real, 0, 1))
    # Nothing in a filter is sharper than one over its horizon: poles closer than that only chase rounding errors.
    # Poles very far off are polynomials in disguise, which cancel; those are left to the ellipses.
    sharp, far = 1e-2 * min(1.0, problem.shift), 1e3 * max(1.0, problem.shift)
    return np.append(found[(distance > sharp) & (distance < far)], -problem.shift)


def ellipse_poles(pairs: int) -> Complexes:
    """Poles around the interval, for the polynomials of a few steps, whose own poles lie at infinity.

    On the ellipse with foci at the interval's ends and parameter ρ, least squares converges like ρ^(−2·pairs): ρ is the
    smallest that reaches rounding, as polynomials grow with ρ.
    """
    turn = 10 ** (6.5 / pairs) * np.exp(1j * np.pi * (np.arange(pairs) + 0.5) / pairs)
    ellipse: Complexes = 0.5 + (turn + 1 / turn) / 4
    return ellipse
