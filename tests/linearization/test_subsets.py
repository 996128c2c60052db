"""Training on parts of the data from the eigenproblem of the whole."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from tests import problems
from tests.oracles import retraining
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.subsets import Part, Subsets
from uniqueinfo.training import Converged, GradientFlow, Training

GIVEN = problems.problem(n=20, k=2, D=9, m=7, decades=2)
TRAININGS = problems.trainings(GIVEN, "mean")
FEW, MOST = np.array([15, 3, 8]), np.setdiff1d(np.arange(20), [2, 11, 19])
FORMS: list[Literal["dual", "primal"]] = ["dual", "primal"]


def whole(form: Literal["dual", "primal"], training: Training) -> Part:
    linearization = Linearization.from_jacobian(GIVEN.J, GIVEN.residual, form=form)
    probe = linearization.probe(GIVEN.J_val, GIVEN.residual_val)
    test = linearization.probe(GIVEN.J_val[:3], GIVEN.residual_val[:3])
    return Part(linearization.train(training), probe, test)


@pytest.mark.parametrize("kept", [FEW, MOST], ids=["few", "most"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["descent", "flow with decay", "ridge", "minimum norm"])
def test_a_part_equals_training_on_its_samples_alone(name: str, form: Any, kept: Any) -> None:
    part = Subsets(whole(form, TRAININGS[name])).of(kept)
    w = retraining.weights(GIVEN.J[kept], GIVEN.residual[kept], TRAININGS[name])
    np.testing.assert_allclose(part.run.outputs(), GIVEN.J[kept] @ w, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(part.run.outputs(part.probe), GIVEN.J_val @ w, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(part.run.outputs(part.test), GIVEN.J_val[:3] @ w, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kept", [FEW, MOST], ids=["few", "most"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["flow", "ridge"])  # descent at this rate diverges on two samples
def test_leaving_out_of_a_part_equals_retraining_it(name: str, form: Any, kept: Any) -> None:
    part = Subsets(whole(form, TRAININGS[name])).of(kept)
    found = part.run.leave_out()
    assert part.probe is not None
    truth = retraining.leave_out(
        GIVEN.J[kept],
        GIVEN.residual[kept],
        GIVEN.J_val,
        GIVEN.residual_val,
        TRAININGS[name],
        [[i] for i in range(len(kept))],
    )
    np.testing.assert_allclose(found.weight_information(), truth.weight, rtol=1e-6)
    np.testing.assert_allclose(found.functional_information(part.probe), truth.functional, rtol=1e-6)
    np.testing.assert_allclose(found.value(part.probe), truth.value, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("n", [6, 40], ids=["dual", "primal"])
def test_a_head_with_several_outputs_gives_parts_too(n: int) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, 8)), rng.normal(size=(n, 3))
    linearization = Linearization.from_features(X, Y)
    kept = np.arange(n)[2:]
    part = Subsets(Part(linearization.train(Converged(0.1)), linearization.probe(X, Y))).of(kept)
    alone = Linearization.from_features(X[kept], Y[kept])
    run = alone.train(Converged(0.1))
    assert part.run.linearization.form == alone.form
    np.testing.assert_allclose(part.run.outputs(part.probe), run.outputs(alone.probe(X)), atol=1e-10)


def test_directions_that_left_are_not_learnt_from_rounding() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)) * [1, 1, 1, 0], rng.normal(size=(30, 1))
    X[0] = [0, 0, 0, 1e6]  # all there is to know of the last feature
    linearization = Linearization.from_features(X, y, form="primal")
    part = Subsets(Part(linearization.train(Converged()), linearization.probe(np.eye(4)))).of(np.arange(1, 30))
    wanted = np.linalg.lstsq(X[1:], y[1:])[0]
    np.testing.assert_allclose(part.run.outputs(part.probe), wanted, atol=1e-4)  # 1e12 less 1e12 keeps four digits


def test_a_part_of_a_sketched_problem_is_sketched() -> None:
    short = GradientFlow(lr=0.01, time=1.0)
    all_of_it = Linearization.from_jacobian(GIVEN.J, GIVEN.residual, sketch=6)
    probe = all_of_it.probe(GIVEN.J_val)
    part = Subsets(Part(all_of_it.train(short), probe)).of(MOST)
    alone = Linearization.from_jacobian(GIVEN.J[MOST], GIVEN.residual[MOST], sketch=6)
    assert part.run.linearization.form == "sketch"
    np.testing.assert_array_equal(part.run.outputs(part.probe), alone.train(short).outputs(alone.probe(GIVEN.J_val)))
