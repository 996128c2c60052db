"""One decomposition, many targets."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.compare import close
from tests.problems import Problem, problem
from uniqueinfo import GradientFlow, InputError, Linearization
from uniqueinfo.types import Floats

TRAINING = GradientFlow(lr=0.01, time=50.0)
KINDS = ("dual", "primal", "sketch", "kernel", "head")


def given() -> Problem:
    return problem(12, 2, 30)


def other() -> Floats:
    return np.random.default_rng(1).normal(size=(12, 2))


def elsewhere() -> Floats:
    return np.random.default_rng(2).normal(size=(12, 2))


def made(kind: str, residual: Floats, start: Floats | None) -> Linearization:
    J = given().J
    if kind == "kernel":
        rows = J.reshape(24, 30)
        return Linearization.from_kernel(rows @ rows.T, residual, start)
    if kind == "head":
        return Linearization.from_features(J[:, 0], residual + (0 if start is None else start), start)
    if kind == "sketch":
        return Linearization.from_jacobian(J, residual, start, sketch=16)
    return Linearization.from_jacobian(J, residual, start, form="dual" if kind == "dual" else "primal")


@pytest.mark.parametrize("from_zero", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_other_targets_are_trained_toward_as_if_made_for_them(kind: str, from_zero: bool) -> None:
    start = None if from_zero else elsewhere()
    targets = other() if start is None else other() + start
    found = made(kind, given().residual, None).toward(targets, start).train(TRAINING)
    anew = made(kind, other(), start).train(TRAINING)
    np.testing.assert_allclose(found.outputs(), anew.outputs(), rtol=1e-9, atol=1e-9)
    close(found.leave_out().weight_information(), anew.leave_out().weight_information(), rtol=1e-9)


@pytest.mark.parametrize("kind", ["dual", "primal"])
def test_initial_outputs_stay_where_none_are_given(kind: str) -> None:
    found = made(kind, given().residual, elsewhere()).toward(other())
    np.testing.assert_array_equal(found.initial.flatten(1).numpy(), elsewhere())
    np.testing.assert_allclose(found.residual.flatten(1).numpy(), other() - elsewhere(), rtol=1e-15)


@pytest.mark.parametrize("kind", ["dual", "primal"])
def test_probes_look_at_every_labelling(kind: str) -> None:
    one = made(kind, given().residual, None)
    shared = one.toward(other()).train(TRAINING).leave_out().functional_information(one.probe(given().J_val))
    anew = made(kind, other(), None)
    close(shared, anew.train(TRAINING).leave_out().functional_information(anew.probe(given().J_val)), rtol=1e-9)


def test_the_first_labelling_is_left_as_it_was() -> None:
    one = made("dual", given().residual, None)
    before = one.train(TRAINING).outputs()
    one.toward(other())
    np.testing.assert_array_equal(one.train(TRAINING).outputs(), before)


def test_targets_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"targets: expected shape \(12, 2\)"):
        made("dual", given().residual, None).toward(other()[:, :1])


def headed(form: str) -> Linearization:
    J, targets = given().J, given().residual
    return Linearization.from_features(J[:, 0], targets, elsewhere(), form="dual" if form == "dual" else "primal")


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_a_head_on_all_features_is_the_linearization(form: str) -> None:
    whole = headed(form)
    others = whole.probe(given().J[:5, 1])
    again = Linearization.from_features(whole.features(12), given().residual, elsewhere())
    probe = again.probe(whole.features(12, others))
    one, other = whole.train(TRAINING), again.train(TRAINING)
    close(other.outputs(), one.outputs(), rtol=1e-9)
    close(other.outputs(probe), one.outputs(others), rtol=1e-9)


def test_leading_features_keep_the_largest_of_the_kernel() -> None:
    whole, X = headed("dual"), given().J[:, 0]
    values = np.linalg.eigvalsh(X @ X.T)[::-1]
    close(np.square(whole.features(3)).sum(axis=0), values[:3], rtol=1e-9)


def test_features_of_outputs_with_rows_of_their_own_are_refused() -> None:
    with pytest.raises(InputError, match="outputs have rows of their own"):
        made("dual", given().residual, None).features(3)


@pytest.mark.parametrize("directions", [0, 13, 2.5, True])
def test_a_wrong_number_of_directions_is_refused(directions: int) -> None:
    with pytest.raises(InputError, match="directions: expected how many to keep, 1 to 12"):
        headed("dual").features(directions)
