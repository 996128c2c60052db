"""Closed-form additions against training again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import retraining
from tests.oracles.compare import close
from tests.problems import KINDS, Problem, problem, trainings
from uniqueinfo import Linearization
from uniqueinfo.removal.additions import Added, add_each
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Training

CLOSE = 1e-6  # as for removals
ENDING = [kind for kind in KINDS if kind != "minimum norm"]


def added(given: Problem, training: Training, form: Form) -> Added:
    """Each validation sample, looked at on the others."""
    linearization = Linearization.from_jacobian(given.J, given.residual, form=form)
    probe = linearization.probe(given.J_val, given.residual_val)
    assert probe.targets is not None
    return add_each(linearization.train(training), probe, probe, probe.targets, apart=True)


def truth(given: Problem, training: Training) -> dict[str, np.ndarray]:
    """Train with each validation sample besides, and look at the others."""
    before = retraining.weights(given.J, given.residual, training)
    found: dict[str, list[np.ndarray | float]] = {"weight": [], "functional": [], "value": [], "own": []}
    for at in range(len(given.J_val)):
        J = np.concatenate([given.J, given.J_val[[at]]])
        residual = np.concatenate([given.residual, given.residual_val[[at]]])
        delta = retraining.weights(J, residual, training) - before
        others = np.delete(np.arange(len(given.J_val)), at)
        wrong = given.J_val[others] @ before - given.residual_val[others]
        moved = given.J_val[others] @ delta
        found["weight"].append(delta @ delta / 2)
        found["functional"].append(np.square(moved).sum() / (2 * len(others)))
        found["value"].append((np.square(wrong).sum() - np.square(wrong + moved).sum()) / (2 * len(others)))
        found["own"].append(given.J_val[at] @ delta)
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("kind", ENDING)
def test_every_addition_equals_training_again(kind: str, outputs: int, form: Form) -> None:
    given = problem(12, outputs, 8 if form == "primal" else 60)
    training = trainings(given, "mean")[kind]
    training = training.stable(2 * given.largest + 200, given.samples + 1)
    found, wanted = added(given, training, form), truth(given, training)
    close(found.weight, wanted["weight"], rtol=CLOSE)
    close(found.functional, wanted["functional"], rtol=CLOSE)
    close(found.value, wanted["value"], rtol=0, atol=CLOSE * np.abs(wanted["value"]).max())
    close(found.own, wanted["own"], rtol=0, atol=CLOSE * np.abs(wanted["own"]).max())


def test_without_targets_there_is_no_value() -> None:
    given = problem(6, 1, 4)
    linearization = Linearization.from_jacobian(given.J, given.residual)
    probe = linearization.probe(given.J_val)
    run = linearization.train(trainings(given, "mean")["ridge"])
    assert add_each(run, probe, probe, torch.zeros_like(probe.initial)).value is None
