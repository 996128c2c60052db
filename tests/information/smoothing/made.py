"""What the tests of smoothings are made of."""

from __future__ import annotations

import numpy as np

from tests.oracles import retraining
from tests.oracles.jacobian import head_rows
from tests.problems import Problem
from uniqueinfo import SGD, Converged, Isotropic, Langevin, Linearization
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Reduction, Training
from uniqueinfo.types import Floats

SMOOTHINGS = [Isotropic(0.3), Langevin(0.1, 5, 0.7), SGD(0.1, 5), SGD(0.1, 5, diagonal=True)]


FORMS: list[Form] = ["dual", "primal"]


REDUCTIONS: list[Reduction] = ["mean", "sum"]


GROUPS = [[0], [3], [1, 2], [7, 4, 5]]


def train(given: Problem, training: Training, form: Form = "auto") -> Trained:
    return Linearization.from_jacobian(given.J, given.residual, form=form).train(training)


def ridge(given: Problem, reduction: Reduction, decay: float = 0.3) -> Converged:
    """Decay of a tenth or so of the spectrum under either reduction."""
    return Converged(decay * (given.J.shape[2] if reduction == "sum" else 1.0), reduction)


def deltas(given: Problem, training: Training, groups: list[list[int]]) -> Floats:
    return retraining.changes(given.J, given.residual, training, groups)


def head() -> tuple[Floats, Floats, Problem]:
    """A linear head with three outputs, and the same written out as a Jacobian."""
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
    J = head_rows(X, 3)
    return X, Y, Problem(J, Y, J[:4], Y[:4])
