"""Outputs that follow when labels are mended and samples dropped: as trained again on what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.oracles import retraining
from tests.problems import Problem, problem, trainings
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.removal.mending import Mended, why_not_mended
from uniqueinfo.training import Converged, Filter, Training
from uniqueinfo.types import Floats

TOLERANCE = 1e-6  # a fit is good to 1e-8 of what was learnt, and 1 − h of a sample may be a hundredth

CASES = [
    *(("primal", kind, "mean") for kind in ("few steps", "momentum", "descent with decay")),
    *((sizes, "flow", "mean") for sizes in ("one output", "primal", "dual")),
    *((sizes, "ridge", reduction) for sizes in ("one output", "primal", "dual") for reduction in ("mean", "sum")),
]
SIZES = {"one output": (12, 1, 7), "primal": (9, 3, 5), "dual": (6, 2, 30)}


@dataclass(frozen=True)
class Fixed(Training):
    """A training whose filter is that of so many samples, however many there are: what is kept when some drop out."""

    name: ClassVar[str] = ""  # not for the command line
    of: Training
    count: int

    def filter(self, samples: int) -> Filter:
        return self.of.filter(self.count)

    def words(self) -> str:
        return "fixed"


def said(given: Problem, residual: Floats, training: Training, left: set[int]) -> Floats:
    """Of every sample by a training on all others that have not left."""
    fixed: Any = Fixed(of=training, count=given.samples - 1)
    found = [given.J[i] @ retraining.weights(given.J, residual, fixed, {*left, i}) for i in range(given.samples)]
    return np.stack(found)


@pytest.mark.parametrize(("sizes", "kind", "reduction"), CASES)
def test_labels_and_drops_in_any_order_are_as_trained_again(sizes: str, kind: str, reduction: Any) -> None:
    given = problem(*SIZES[sizes])
    training = trainings(given, reduction)[kind]
    now = Mended.of(Linearization.from_jacobian(given.J, given.residual).train(training))
    np.testing.assert_allclose(now.left_out(), said(given, given.residual, training, set()), atol=TOLERANCE)
    residual = given.residual.copy()
    residual[2], residual[4] = 1.5, -0.5
    now = now.relabelled(np.array([2]), residual[[2]]).without(1)
    now = now.relabelled(np.array([4, 2]), residual[[4, 2]]).without(0)
    np.testing.assert_allclose(now.left_out(), said(given, residual, training, {0, 1}), atol=TOLERANCE)
    now = now.with_(1).relabelled(np.array([2]), given.residual[[2]])
    residual[2] = given.residual[2]
    np.testing.assert_allclose(now.left_out(), said(given, residual, training, {0}), atol=TOLERANCE)


def test_a_head_of_many_outputs_is_followed() -> None:
    rng = np.random.default_rng(0)
    X, y, others = rng.normal(size=(20, 5)), rng.normal(size=(20, 3)), rng.normal(size=(4, 5))
    training = Converged(0.3, reduction="sum")
    run = Linearization.from_features(X, y).train(training)
    now = Mended.of(run, run.probe(others)).relabelled(np.array([3]), np.ones((1, 3))).without(5)
    mended = y.copy()
    mended[3] = 1.0
    kept = np.delete(np.arange(20), 5)

    def weights(rows: Any) -> Floats:
        return np.asarray(np.linalg.solve(X[rows].T @ X[rows] + 0.3 * np.eye(5), X[rows].T @ mended[rows]))

    expected = [X[i] @ weights(np.setdiff1d(kept, [i])) for i in range(20)]
    np.testing.assert_allclose(now.left_out()[:20], expected, atol=1e-10)
    np.testing.assert_allclose(now.left_out()[20:], others @ weights(kept), atol=1e-10)
    np.testing.assert_allclose(now.outputs()[kept], X[kept] @ weights(kept), atol=1e-10)


def test_other_samples_keep_their_labels_to_themselves() -> None:
    run = Linearization.from_features([[1.0], [1.0], [2.0]], [[0.0], [3.0], [1.0]]).train(Converged(1.0))
    now = Mended.of(run, run.linearization.probe([[1.0]], [[5.0]]))
    np.testing.assert_array_equal(now.relabelled(np.array([3]), np.zeros((1, 1))).left_out(), now.left_out())


def test_what_cannot_be_followed_says_why() -> None:
    head = Linearization.from_features(np.eye(4), np.eye(4))
    assert "decay" in (why_not_mended(head.train(Converged(0.0))) or "")
    assert "squared error" in (why_not_mended(head.train(Converged(0.1, loss="cross-entropy"))) or "")
    assert why_not_mended(head.train(Converged(0.1))) is None
