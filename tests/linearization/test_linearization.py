"""One decomposition, many targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.oracles.compare import close
from tests.problems import problem
from uniqueinfo import GradientFlow, InputError, Linearization
from uniqueinfo.types import Floats

GIVEN = problem(12, 2, 30)
OTHER = np.random.default_rng(1).normal(size=GIVEN.residual.shape)
START = np.random.default_rng(2).normal(size=GIVEN.residual.shape)
TRAINING = GradientFlow(lr=0.01, time=50.0)
X = GIVEN.J[:, 0]
ROWS = GIVEN.J.reshape(24, 30)
MADE: dict[str, Callable[[Floats, Floats | None], Linearization]] = {
    "dual": lambda residual, start: Linearization.from_jacobian(GIVEN.J, residual, start, form="dual"),
    "primal": lambda residual, start: Linearization.from_jacobian(GIVEN.J, residual, start, form="primal"),
    "sketch": lambda residual, start: Linearization.from_jacobian(GIVEN.J, residual, start, sketch=16),
    "kernel": lambda residual, start: Linearization.from_kernel(ROWS @ ROWS.T, residual, start),
    "head": lambda residual, start: Linearization.from_features(X, residual + (0 if start is None else start), start),
}


@pytest.mark.parametrize("start", [None, START], ids=["from zero", "from elsewhere"])
@pytest.mark.parametrize("kind", MADE)
def test_other_targets_are_trained_toward_as_if_made_for_them(kind: str, start: Floats | None) -> None:
    targets = OTHER if start is None else OTHER + start
    found = MADE[kind](GIVEN.residual, None).toward(targets, start).train(TRAINING)
    anew = MADE[kind](OTHER, start).train(TRAINING)
    np.testing.assert_allclose(found.outputs(), anew.outputs(), rtol=1e-9, atol=1e-9)
    close(found.leave_out().weight_information(), anew.leave_out().weight_information(), rtol=1e-9)


@pytest.mark.parametrize("kind", ["dual", "primal"])
def test_initial_outputs_stay_where_none_are_given(kind: str) -> None:
    found = MADE[kind](GIVEN.residual, START).toward(OTHER)
    np.testing.assert_array_equal(found.initial.flatten(1).numpy(), START)
    np.testing.assert_allclose(found.residual.flatten(1).numpy(), OTHER - START, rtol=1e-15)


@pytest.mark.parametrize("kind", ["dual", "primal"])
def test_probes_look_at_every_labelling(kind: str) -> None:
    one = MADE[kind](GIVEN.residual, None)
    shared = one.toward(OTHER).train(TRAINING).leave_out().functional_information(one.probe(GIVEN.J_val))
    anew = MADE[kind](OTHER, None)
    close(shared, anew.train(TRAINING).leave_out().functional_information(anew.probe(GIVEN.J_val)), rtol=1e-9)


def test_the_first_labelling_is_left_as_it_was() -> None:
    one = MADE["dual"](GIVEN.residual, None)
    before = one.train(TRAINING).outputs()
    one.toward(OTHER)
    np.testing.assert_array_equal(one.train(TRAINING).outputs(), before)


def test_targets_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"targets: expected shape \(12, 2\)"):
        MADE["dual"](GIVEN.residual, None).toward(OTHER[:, :1])
