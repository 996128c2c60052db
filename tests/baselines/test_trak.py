from __future__ import annotations

import pytest

from tests.baselines.networks import trained
from tests.oracles.compare import close
from tests.oracles.influence import Problem
from uniqueinfo import Converged, GradientDescent, VerySparse, linearize
from uniqueinfo.baselines.influence import Exact, influence
from uniqueinfo.baselines.trak import terms, trak
from uniqueinfo.training import Training


@pytest.fixture(scope="module")
def given() -> Problem:
    return trained()


def test_trak_without_projection_is_the_influence_of_the_gauss_newton_matrix(given: Problem) -> None:
    training = Converged(weight_decay=0.3, reduction="sum")
    found = trak(given.model, given.train, given.val, projection=None, training=training)
    wanted = influence(
        given.model,
        given.train,
        given.val,
        reduction="sum",
        weight_decay=0.3,
        solver=Exact(),
        curvature="gauss-newton",
    )
    close(found, wanted.output_changes, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("training", [GradientDescent(lr=0.01, steps=50), Converged(weight_decay=0.1)])
def test_the_terms_add_up_to_what_training_did(given: Problem, training: Training, form: str) -> None:
    lin = linearize(given.model, given.train, given.val, projection=VerySparse(20), form=form)  # type: ignore[arg-type]
    run, probe = lin.train(training), lin.validation
    done = run.outputs(probe) - probe.initial.flatten(1).numpy()
    close(terms(run, probe).sum(axis=0), done, rtol=1e-9, atol=1e-12)


def test_trak_repeats_bit_for_bit(given: Problem) -> None:
    assert (trak(given.model, given.train, given.val) == trak(given.model, given.train, given.val)).all()
