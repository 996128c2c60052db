"""Samples that join together, labels unknown, against training again with every labelling."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from tests.oracles import retraining
from tests.problems import KINDS, Problem, problem, trainings
from uniqueinfo import InputError, Linearization
from uniqueinfo.removal.choosing import Chosen, choose
from uniqueinfo.removal.joining import Drawn, Joining
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Converged, Reduction, Training
from uniqueinfo.types import Floats

CLOSE = 1e-6  # as for removals
ENDING = [kind for kind in KINDS if kind != "minimum norm"]
POOL = 5


class Labelled:
    """A pool whose samples have one of two possible residuals each, with their probabilities."""

    def __init__(self, given: Problem, training: Training, *, weights: bool = False) -> None:
        rng = np.random.default_rng(7)
        self.given, self.training, self.weights = given, training, weights
        outputs, width = given.J.shape[1:]
        self.J = rng.normal(size=(POOL, outputs, width))
        self.J[1] = 1.01 * self.J[0]  # nearly the same
        self.residuals = rng.normal(size=(POOL, 2, outputs))
        share = rng.uniform(0.2, 0.8, size=POOL)
        self.probability = np.column_stack([share, 1 - share])
        self._before = retraining.weights(given.J, given.residual, training)

    def drawn(self) -> Drawn:
        """Mean and covariance of the residuals."""
        mean = np.einsum("il,ilk->ik", self.probability, self.residuals)
        off = self.residuals - mean[:, None]
        covariance = np.einsum("il,ilk,ilm->ikm", self.probability, off, off)
        return Drawn.of(torch.from_numpy(mean)[..., None], torch.from_numpy(covariance))

    def expected(self, members: tuple[int, ...]) -> float:
        """Train again with every labelling of these samples, and weigh what changes by its probability."""
        found = 0.0
        for labels in product(range(2), repeat=len(members)):
            J = np.concatenate([self.given.J, self.J[list(members)]])
            residual = np.concatenate([self.given.residual, self.residuals[list(members), list(labels)]])
            delta = retraining.weights(J, residual, self.training) - self._before
            moved = delta if self.weights else self.given.J_val @ delta / len(self.given.J_val) ** 0.5
            found += float(np.prod(self.probability[list(members), list(labels)]) * np.square(moved).sum() / 2)
        return found

    def greedy(self, count: int) -> tuple[list[int], Floats]:
        """By training again for every choice."""
        order: list[int] = []
        information = []
        for _ in range(count):
            each = {at: self.expected((*order, at)) for at in range(POOL) if at not in order}
            order.append(max(each, key=lambda at: each[at]))
            information.append(each[order[-1]])
        return order, np.array(information)

    def chosen(self, form: Form, count: int) -> Chosen:
        """Ours."""
        linearization = Linearization.from_jacobian(self.given.J, self.given.residual, form=form)
        run = linearization.train(self.training)
        probe = None if self.weights else linearization.probe(self.given.J_val)
        return choose(run, Joining.of(run, probe, linearization.probe(self.J)), self.drawn(), count)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("kind", ENDING)
def test_greedy_choice_equals_training_again(kind: str, form: Form, reduction: Reduction) -> None:
    given = problem(10, 2, 6 if form == "primal" else 40)
    training = trainings(given, reduction)[kind].stable(2 * given.largest + 400, given.samples + 1)
    pool = Labelled(given, training)
    found, (order, information) = pool.chosen(form, 3), pool.greedy(3)
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.information, information, rtol=CLOSE)
    np.testing.assert_allclose(found.alone, [pool.expected((at,)) for at in range(POOL)], rtol=CLOSE)
    np.testing.assert_allclose(found.gain.cumsum(), found.information)


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_without_validation_samples_weights_are_looked_at(form: Form) -> None:
    pool = Labelled(problem(10, 2, 6 if form == "primal" else 40), Converged(0.1), weights=True)
    found, (order, information) = pool.chosen(form, 2), pool.greedy(2)
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.information, information, rtol=CLOSE)


def test_all_that_join_at_once_tell_what_they_do_one_by_one() -> None:
    given = problem(10, 2, 6)
    pool = Labelled(given, Converged(0.1))
    linearization = Linearization.from_jacobian(given.J, given.residual)
    run = linearization.train(pool.training)
    joining = Joining.of(run, linearization.probe(given.J_val), linearization.probe(pool.J))
    filter = run.training.filter(given.samples + 3)
    at_once = joining.joined(np.array([0, 2, 3]), pool.drawn()).information(filter)
    one_by_one = joining.joined(np.array([2]), pool.drawn()).joined(np.array([3, 0]), pool.drawn()).information(filter)
    assert at_once == pytest.approx(one_by_one, rel=1e-9)
    assert at_once == pytest.approx(pool.expected((0, 2, 3)), rel=CLOSE)


def test_more_than_can_be_decomposed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniqueinfo.removal.joining.MOST_COORDINATES", 10)
    given = problem(4, 2, 40)
    linearization = Linearization.from_jacobian(given.J, given.residual)
    with pytest.raises(InputError, match="hand over fewer at a time"):
        Joining.of(linearization.train(Converged(0.1)), None, linearization.probe(given.J_val))


def test_a_sketch_is_refused() -> None:
    given = problem(40, 1, 30)
    linearization = Linearization.from_jacobian(given.J, given.residual, sketch=10)
    with pytest.raises(InputError, match="leave sketch= out"):
        Joining.of(linearization.train(Converged(1.0)), None, linearization.probe(given.J_val))
