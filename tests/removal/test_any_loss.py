"""Samples that leave a training by any loss, held against training again without them in float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import uniqueinfo as ui
from tests.oracles import any_loss
from tests.oracles.compare import close
from uniqueinfo.errors import InputError
from uniqueinfo.removal.course import Stepped, follow
from uniqueinfo.removal.following import Following
from uniqueinfo.removal.trained import LocalSums, trainable
from uniqueinfo.training import Training
from uniqueinfo.types import Floats, Indices

GROUPS = [[0], [3, 5], [1, 2, 4]]
FLOW = ui.GradientFlow(0.2, 60.0, loss="cross-entropy")


@dataclass(frozen=True, eq=False)
class Small:
    """A linearization (rows or a head) with targets for any loss."""

    J: Floats
    targets: Floats
    initial: Floats
    X: Floats | None = None

    def linearization(self, form: str) -> ui.Linearization:
        options: dict[str, Any] = {"form": form}
        if self.X is not None:
            return ui.Linearization.from_features(self.X, self.targets, self.initial, **options)
        return ui.Linearization.from_jacobian(self.J, self.targets - self.initial, self.initial, **options)


def small(loss: str, n: int = 14, k: int = 3, D: int = 10, *, head: bool = False, seed: int = 0) -> Small:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) if head else None
    J = rng.normal(size=(n, k, D)) if X is None else np.einsum("nd,kl->nkld", X, np.eye(k)).reshape(n, k, -1)
    if loss == "cross-entropy":
        picked = rng.integers(max(2, k), size=n)
        targets = picked[:, None].astype(float) if k == 1 else np.eye(k)[picked]
    else:
        targets = rng.integers(4, size=(n, k)).astype(float)
    return Small(J, targets, 0.3 * rng.normal(size=(n, k)), X)


def left_out(problem: Small, training: Training, form: str, groups: list[list[int]]) -> Floats:
    """w − w₋ of every group as the library has it, in weights."""
    run = problem.linearization(form).train(training)
    found: dict[int, Floats] = {}
    for chunk in run.leave_out(groups).changes():
        for number, delta in zip(chunk.numbers, chunk.delta.explicit(), strict=True):
            found[int(number)] = run.system.weights(delta.T).T.reshape(-1).numpy()
    return np.stack([found[number] for number in range(len(groups))])


def error(found: Floats, truth: Floats) -> float:
    return float((np.linalg.norm(found - truth, axis=1) / np.linalg.norm(truth, axis=1)).max())


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("loss", ["cross-entropy", "huber", "poisson"])
def test_trained_to_the_end(loss: str, form: str) -> None:
    problem, training = small(loss), ui.Converged(0.05, loss=loss)
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, training, GROUPS)
    assert error(left_out(problem, training, form, GROUPS), truth) < 1e-8


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_a_head_trained_to_the_end(form: str) -> None:
    problem, training = small("cross-entropy", head=True), ui.Converged(0.05, loss="cross-entropy")
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, training, GROUPS)
    assert error(left_out(problem, training, form, GROUPS), truth) < 1e-8


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize(
    "training",
    [
        FLOW,
        ui.GradientDescent(0.2, 60, loss="cross-entropy", weight_decay=0.01),
        ui.GradientFlow(0.02, 60.0, loss="cross-entropy", reduction="sum"),
        ui.GradientFlow(0.2, 60.0, loss="huber"),
        ui.GradientFlow(0.02, 60.0, loss="poisson"),
    ],
    ids=lambda training: training.words(),
)
def test_stopped_early(training: Training, form: str) -> None:
    problem = small(str(training.loss))
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, training, GROUPS)
    assert error(left_out(problem, training, form, GROUPS), truth) < 0.02  # the stretches' own estimate is 0.005


@pytest.mark.parametrize("head", [False, True])
def test_one_output_is_logistic_regression(head: bool) -> None:
    problem, training = small("cross-entropy", k=1, head=head), ui.Converged(0.05, loss="cross-entropy")
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, training, GROUPS)
    assert error(left_out(problem, training, "auto", GROUPS), truth) < 1e-8


def along(problem: Small, training: Stepped, stretches: int, passes: int, members: Indices) -> Floats:
    """w − w₋ with a number of stretches and passes of one's own."""
    run = problem.linearization("primal").train(training)
    course = follow(LocalSums(run), training, stretches)
    return Following(course, training.criterion, run.everyone, passes)(run.block(members)).numpy()


def test_the_error_falls_with_the_square_of_the_stretches_and_to_1e_6_after_refinement() -> None:
    problem = small("cross-entropy", n=16)
    alone = np.arange(4)[:, None]
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, FLOW, alone.tolist())
    errors = [error(along(problem, FLOW, count, 12, alone), truth) for count in (16, 32, 64)]
    assert errors[1] < errors[0] / 2.5
    assert errors[2] < errors[1] / 2.5
    fine, finer = (along(problem, FLOW, count, 14, alone) for count in (128, 256))
    assert error(finer + (finer - fine) / 3, truth) < 1e-6


def test_a_second_pass_removes_most_of_the_first_order_error() -> None:
    problem = small("cross-entropy", n=30)
    alone = np.arange(6)[:, None]
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, FLOW, alone.tolist())
    once, twice = (error(along(problem, FLOW, 64, passes, alone), truth) for passes in (1, 2))
    assert twice < once / 3


@settings(max_examples=15, deadline=None)
@given(
    n=st.integers(3, 9),
    k=st.integers(1, 3),
    D=st.integers(1, 8),
    loss=st.sampled_from(["cross-entropy", "huber", "poisson"]),
    seed=st.integers(0, 1000),
)
@example(n=9, k=2, D=3, loss="cross-entropy", seed=141)  # targets computed back to a little below 0
@example(n=3, k=1, D=1, loss="huber", seed=3)  # steps that go to and fro between two slopes
def test_any_problem_trained_to_the_end(n: int, k: int, D: int, loss: str, seed: int) -> None:
    problem, training = small(loss, n, k, D, seed=seed), ui.Converged(0.3, loss=loss)
    truth = any_loss.changes(problem.J, problem.targets, problem.initial, training, [[0], [1, 2]])
    found = left_out(problem, training, "auto", [[0], [1, 2]])
    close(found, truth, rtol=1e-6, atol=1e-8)


def test_squared_error_by_stretches_is_the_closed_form() -> None:
    problem = small("mse")
    training = ui.GradientFlow(0.2, 60.0)
    alone = np.arange(5)[:, None]
    assert error(along(problem, training, 128, 1, alone), left_out(problem, training, "primal", alone.tolist())) < 1e-6


def test_momentum_is_followed_as_flow_of_the_same_length() -> None:
    system = small("cross-entropy").linearization("primal").system
    with pytest.warns(UserWarning, match="is followed as gradient flow for time 60"):
        training = trainable(system, ui.GradientDescent(0.25, 60, momentum=0.5, loss="cross-entropy"), 14)
    assert training == ui.GradientFlow(0.5, 60.0, loss="cross-entropy")


def test_momentum_that_still_swings_is_followed_as_flow_and_said() -> None:
    """The filter that cannot be written over poles: 2,000 steps at nearly the largest stable rate."""
    problem = small("mse")
    largest = problem.linearization("primal").system.largest
    with pytest.warns(UserWarning, match="without its swinging"):
        run = problem.linearization("primal").train(
            ui.GradientDescent(3.7 / largest, 2000, momentum=0.999, reduction="sum")
        )
    assert isinstance(run.training, ui.GradientFlow)


def test_outputs_without_a_sample_are_those_of_training_again() -> None:
    problem, training = small("cross-entropy"), ui.Converged(0.05, loss="cross-entropy")
    run = problem.linearization("primal").train(training)
    w = any_loss.weights(problem.J, problem.targets, problem.initial, training, [2])
    close(run.leave_out([[2]]).outputs()[0], (problem.initial + problem.J @ w)[[2]], rtol=1e-7)


def test_a_rate_that_diverges_is_refused() -> None:
    with pytest.raises(InputError, match="lr must stay below"):
        small("cross-entropy").linearization("primal").train(
            ui.GradientDescent(100.0, 50, loss="cross-entropy")
        ).outputs()
