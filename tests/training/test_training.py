"""Filters against the training loop, and settings that make no sense."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from tests.oracles.loop import descend
from tests.problems import problem
from uniqueinfo import Converged, GradientDescent, GradientFlow, InputError, Linearization
from uniqueinfo.training import DescentFilter, FlowFilter, MomentumFilter, Reduction


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("steps", [1, 2, 7, 150])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("form", ["dual", "primal"])
def test_descent_is_what_the_optimizer_does(
    form: str, outputs: int, steps: int, momentum: float, reduction: Reduction
) -> None:
    given = problem(9, outputs, 7)
    unit = (9 if reduction == "mean" else 1) / given.largest
    training = GradientDescent(1.5 * unit, steps, weight_decay=0.03 / unit, momentum=momentum, reduction=reduction)
    run = Linearization.from_jacobian(given.J, given.residual, form=form).train(training)  # type: ignore[arg-type]
    expected = descend(given.J, given.residual, training)
    np.testing.assert_allclose(run.weights(), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.outputs(), given.J @ expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    momentum=st.floats(0.01, 0.99),
    steps=st.integers(1, 400),
    rate=st.floats(0.01, 1.99),
)
def test_the_closed_form_of_momentum_is_its_recurrence(momentum: float, steps: int, rate: float) -> None:
    η = np.longdouble(rate * (1 + momentum))
    z = np.concatenate([[0.0], np.geomspace(1e-9, 1, 60), np.linspace(0.01, 1, 60)])
    before, now = np.zeros(len(z), np.longdouble), np.full(len(z), η)
    for _ in range(steps - 1):
        before, now = now, (1 + np.longdouble(momentum) - η * z) * now - np.longdouble(momentum) * before + η
    filter = MomentumFilter(float(η), momentum, steps, 0.0)
    # The recurrence forgets rounding at the rate 1 − μ, so its condition is 1/(1 − μ)².
    error = np.abs(filter(z) - now.astype(float)) * (z + 1 / filter.horizon)
    assert error.max() < 1e-14 / (1 - momentum) ** 2 * 10


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_weights_of_a_linear_head_are_features_by_outputs(form: str) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4)), rng.normal(size=(9, 2))
    run = Linearization.from_features(X, Y, form=form).train(Converged())  # type: ignore[arg-type]
    np.testing.assert_allclose(run.weights(), np.linalg.lstsq(X, Y)[0], rtol=1e-10)


def test_many_small_steps_are_gradient_flow() -> None:
    z = np.linspace(0, 1, 50)
    np.testing.assert_allclose(DescentFilter(1e-6, 3_000_000, 0.0)(z), FlowFilter(3.0, 0.0)(z), rtol=1e-5)


@pytest.mark.parametrize("training", [GradientDescent(1.0, 10**7, 0.05), GradientFlow(1.0, 1e7, 0.05)])
def test_long_training_with_decay_is_ridge(training: GradientDescent | GradientFlow) -> None:
    given = problem(30, 2, 8)
    linearization = Linearization.from_jacobian(given.J / math.sqrt(given.largest), given.residual)
    ridge = linearization.train(Converged(0.05)).leave_out().weight_information()
    np.testing.assert_allclose(linearization.train(training).leave_out().weight_information(), ridge, rtol=1e-8)


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
def test_ridge_leave_one_out_is_scikit_learns(shape: tuple[int, int], form: str) -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=shape), rng.normal(size=(shape[0], 3))
    linearization = Linearization.from_features(X, Y, form=form)  # type: ignore[arg-type]
    found = np.concatenate(linearization.train(Converged(0.7, reduction="sum")).leave_out().outputs())
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        ridge = Ridge(alpha=0.7, fit_intercept=False).fit(X[rest], Y[rest])
        np.testing.assert_allclose(found[i], ridge.predict(X[[i]])[0], rtol=1e-8, atol=1e-12)


def test_no_decay_is_the_limit_of_small_decay() -> None:
    given = problem(6, 2, 30)
    linearization = Linearization.from_jacobian(given.J, given.residual)
    tiny = linearization.train(Converged(1e-9, reduction="sum")).leave_out().weight_information()
    np.testing.assert_allclose(linearization.train(Converged()).leave_out().weight_information(), tiny, rtol=1e-7)


def test_a_rate_past_stability_names_the_largest_stable_one() -> None:
    given = problem(10, 1, 4)
    linearization = Linearization.from_jacobian(given.J, given.residual)
    limit = 20 / given.largest
    linearization.train(GradientDescent(0.999 * limit, 5))
    with pytest.raises(InputError, match=f"lr must stay below {limit:.6g}"):
        linearization.train(GradientDescent(limit * 1.001, 5))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GradientDescent(0.0, 5), "lr must be a finite number above 0, got 0.0"),
        (lambda: GradientDescent(float("nan"), 5), "lr must be"),
        (lambda: GradientDescent(0.1, 0), "steps must be a whole number of at least 1, got 0"),
        (lambda: GradientDescent(0.1, 2.5), "steps must be a whole number"),  # type: ignore[arg-type]
        (lambda: GradientDescent(0.1, 5, weight_decay=-1), "weight_decay must be"),
        (lambda: GradientDescent(0.1, 5, momentum=1.0), "momentum must be at least 0 and below 1"),
        (lambda: GradientDescent(0.1, 5, reduction="max"), 'reduction must be "mean" or "sum"'),  # type: ignore[arg-type]
        (lambda: GradientFlow(0.1, -1.0), "GradientFlow: time must be"),
        (lambda: GradientFlow(math.inf, 1.0), "lr must be a finite number"),
        (lambda: Converged(-0.1), "Converged: weight_decay must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        make()
