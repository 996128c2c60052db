"""A stretch of training over poles, held against integrating it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from tests.oracles.compare import close
from uniqueinfo.training import DescentFilter, FlowFilter
from uniqueinfo.training.propagation import StretchFilter, propagation

Z = (0.0, 1e-9, 1e-3, 0.5, 3.0)


@pytest.mark.parametrize("z", Z)
def test_the_ramp_of_flow_is_its_integral(z: float) -> None:
    filter, time = FlowFilter(horizon=7.0, decay=0.2), 7.0
    wanted = quad(lambda u: np.exp(-(time - u) * (z + 0.2)) * u / time, 0, time, epsabs=1e-13)[0]
    close(filter.ramp(np.array([z])), [wanted], rtol=1e-11)


@pytest.mark.parametrize("steps", [1, 2, 40])
@pytest.mark.parametrize("z", Z)
def test_descent_over_a_stretch_is_the_loop(z: float, steps: int) -> None:
    filter = DescentFilter(rate=0.1, steps=steps, decay=0.2)
    difference, first, last = 2.0, 1.5, 0.3
    wanted = difference
    for step in range(steps):
        wanted -= 0.1 * ((z + 0.2) * wanted + first + (last - first) * step / steps)
    at = np.array([z])
    found = filter.kept(at) * difference - filter(at) * first - filter.ramp(at) * (last - first)
    close(found, [wanted], rtol=1e-11)


@pytest.mark.parametrize(
    "filter",
    [
        FlowFilter(10.0, 0.0),
        FlowFilter(1e5, 0.0),
        FlowFilter(1e-6, 0.0),
        FlowFilter(10.0, 0.1),
        DescentFilter(0.1, 50, 0.0),
        DescentFilter(0.3, 1, 0.0),
        DescentFilter(0.5, 1000, 0.01),
    ],
)
def test_all_three_functions_lie_over_the_poles(filter: StretchFilter) -> None:
    found = propagation(filter, largest=3.0)
    z = np.linspace(0, 3, 50)
    resolvent = np.where(np.equal(found.poles.imag, 0), 1, 2) / (z[:, None] - found.poles)
    over_poles = (resolvent @ found.weights.T).real + found.constants
    scale = np.array([1.0, filter.horizon, filter.horizon])
    close(over_poles / scale, found.values(z).T / scale, rtol=0, atol=1e-8)
