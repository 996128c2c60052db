"""Fits of filters over poles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uniqueinfo import FitError
from uniqueinfo.training import ConvergedFilter, DescentFilter, Filter, FlowFilter, MomentumFilter
from uniqueinfo.training.rational import fit

FILTERS: list[Filter] = [
    *(FlowFilter(time, 0.0) for time in (1e-3, 1.0, 1e3, 1e6, 1e9)),
    *(FlowFilter(1e4, decay) for decay in (1e-6, 1e-2, 10.0)),
    *(DescentFilter(rate, steps, 0.0) for rate in (0.1, 1.0, 1.9, 1.99) for steps in (1, 2, 3, 5, 10, 50, 1000, 10**6)),
    *(MomentumFilter(rate, 0.9, steps, 0.0) for rate in (0.1, 1.0, 3.0) for steps in (1, 2, 5, 20, 2000)),
]


@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_the_fit_reaches_every_scale_of_the_filter(filter: Filter) -> None:
    found = fit(filter, largest=1.0)
    z = np.concatenate([[0.0], np.geomspace(1e-12, 1, 997), np.linspace(0, 1, 1003)])
    error = np.abs(found(z) - filter(z)) * (z + filter.decay + 1 / filter.horizon)
    assert error.max() <= max(found.error, 1e-12) * 3
    assert found.error < 1e-9


@settings(max_examples=60, deadline=None)
@given(
    speed=st.floats(0.01, 1.99),
    log_steps=st.floats(0, 6),
    log_decay=st.one_of(st.none(), st.floats(-6, 0)),
    flow=st.booleans(),
)
def test_flow_and_stable_descent_always_have_a_fit(
    speed: float, log_steps: float, log_decay: float | None, flow: bool
) -> None:
    """The rate times the largest curvature and decay is below 2, where descent is stable; momentum may have none."""
    decay, steps = 0.0 if log_decay is None else 10**log_decay, round(10**log_steps)
    rate = speed / (1 + decay)
    filter = FlowFilter(rate * steps, decay) if flow else DescentFilter(rate, steps, decay)
    assert fit(filter, largest=1.0).error < 1e-9


@pytest.mark.parametrize("largest", [1e-8, 1e8])
def test_the_fit_scales_with_the_interval(largest: float) -> None:
    z = np.linspace(0, 1, 11)
    small, large = fit(FlowFilter(50.0, 0.1), 1.0), fit(FlowFilter(50.0 / largest, 0.1 * largest), largest)
    np.testing.assert_allclose(large(z * largest) * largest, small(z), rtol=1e-10)


@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_poles_stay_off_the_interval(filter: Filter) -> None:
    """By a hundredth of what the filter can tell apart: nearer ones would only chase rounding errors."""
    poles = fit(filter, 1.0).poles
    distance = np.abs(poles - np.clip(poles.real, 0, 1))
    assert distance.min() > 1e-2 * min(1.0, filter.decay + 1 / filter.horizon)


def test_a_ridge_is_its_own_pole() -> None:
    found = fit(ConvergedFilter(0.5), 3.0)
    assert found.poles.tolist() == [-0.5]
    assert found.error == 0


def test_a_filter_that_still_oscillates_is_refused_with_its_error() -> None:
    with pytest.raises(FitError, match=r"cannot be written over poles to 1\.0e-08: the best fit found is off by"):
        fit(MomentumFilter(3.7, 0.999, 2000, 0.0), 1.0)
