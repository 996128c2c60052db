"""Training on parts of the data from the eigenproblem of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import retraining
from tests.problems import Problem, problem, trainings
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.subsets import Subset, Subsets
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Converged, GradientFlow, Training

FEW, MOST = [15, 3, 8], [i for i in range(20) if i not in (2, 11, 19)]
FORMS: list[Form] = ["dual", "primal"]


@pytest.fixture(scope="module")
def given() -> Problem:
    return problem(n=20, k=2, D=9, m=7, decades=2)


def whole(given: Problem, form: Form, training: Training) -> Subset:
    linearization = Linearization.from_jacobian(given.J, given.residual, form=form)
    probe = linearization.probe(given.J_val, given.residual_val)
    test = linearization.probe(given.J_val[:3], given.residual_val[:3])
    return Subset(linearization.train(training), probe, test)


@pytest.mark.parametrize("kept", [FEW, MOST], ids=["few", "most"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["descent", "flow with decay", "ridge", "minimum norm"])
def test_a_part_equals_training_on_its_samples_alone(given: Problem, name: str, form: Form, kept: list[int]) -> None:
    training = trainings(given, "mean")[name]
    part = Subsets(whole(given, form, training)).of(np.array(kept))
    w = retraining.weights(given.J[kept], given.residual[kept], training)
    np.testing.assert_allclose(part.run.outputs(), given.J[kept] @ w, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(part.run.outputs(part.probe), given.J_val @ w, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(part.run.outputs(part.test), given.J_val[:3] @ w, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kept", [FEW, MOST], ids=["few", "most"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["flow", "ridge"])  # descent at this rate diverges on two samples
def test_leaving_out_of_a_part_equals_retraining_it(given: Problem, name: str, form: Form, kept: list[int]) -> None:
    training = trainings(given, "mean")[name]
    part = Subsets(whole(given, form, training)).of(np.array(kept))
    found = part.run.leave_out()
    assert part.probe is not None
    truth = retraining.leave_out(
        given.J[kept],
        given.residual[kept],
        given.J_val,
        given.residual_val,
        training,
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
    part = Subsets(Subset(linearization.train(Converged(0.1)), linearization.probe(X, Y))).of(kept)
    alone = Linearization.from_features(X[kept], Y[kept])
    run = alone.train(Converged(0.1))
    assert part.run.linearization.form == alone.form
    np.testing.assert_allclose(part.run.outputs(part.probe), run.outputs(alone.probe(X)), atol=1e-10)


def test_directions_that_left_are_not_learnt_from_rounding() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)) * [1, 1, 1, 0], rng.normal(size=(30, 1))
    X[0] = [0, 0, 0, 1e6]  # all there is to know of the last feature
    linearization = Linearization.from_features(X, y, form="primal")
    part = Subsets(Subset(linearization.train(Converged()), linearization.probe(np.eye(4)))).of(np.arange(1, 30))
    wanted = np.linalg.lstsq(X[1:], y[1:])[0]
    np.testing.assert_allclose(part.run.outputs(part.probe), wanted, atol=1e-4)  # 1e12 less 1e12 keeps four digits


def test_a_part_of_a_sketched_problem_is_sketched(given: Problem) -> None:
    short = GradientFlow(lr=0.01, time=1.0)
    all_of_it = Linearization.from_jacobian(given.J, given.residual, sketch=6)
    probe = all_of_it.probe(given.J_val)
    part = Subsets(Subset(all_of_it.train(short), probe)).of(np.array(MOST))
    alone = Linearization.from_jacobian(given.J[MOST], given.residual[MOST], sketch=6)
    assert part.run.linearization.form == "sketch"
    np.testing.assert_array_equal(part.run.outputs(part.probe), alone.train(short).outputs(alone.probe(given.J_val)))
