from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.baselines.networks import trained
from tests.oracles.compare import close
from tests.oracles.influence import Problem
from tests.oracles.jacobian import jacobian_rows, loss_gradients
from uniqueinfo import InputError
from uniqueinfo.baselines.gradients import el2n, forgetting, gradient_norm, random_scores, tracin, training_loss


@pytest.fixture(scope="module")
def given() -> Problem:
    return trained()


@pytest.fixture(scope="module")
def checkpoints() -> list[dict[str, Tensor]]:
    return [copy.deepcopy(trained(steps=steps).model.state_dict()) for steps in (1, 20, 100)]


def test_training_loss_is_half_the_squared_error(given: Problem) -> None:
    with torch.no_grad():
        error = given.model(given.train[0]) - given.train[1]
    close(training_loss(given.model, given.train), error.square().sum(1) / 2, rtol=1e-12)


def test_el2n_is_the_length_of_the_error(given: Problem) -> None:
    with torch.no_grad():
        error = given.model(given.train[0]) - given.train[1]
    close(el2n(given.model, given.train), error.norm(dim=1), rtol=1e-12)


def test_el2n_of_logits_compares_their_softmax_with_the_class(given: Problem) -> None:
    classes = torch.arange(14) % 2
    with torch.no_grad():
        error = given.model(given.train[0]).softmax(1) - torch.eye(2, dtype=torch.float64)[classes]
    close(el2n(given.model, (given.train[0], classes), softmax=True), error.norm(dim=1), rtol=1e-12)


def test_el2n_refuses_the_softmax_of_one_output() -> None:
    with pytest.raises(InputError, match="softmax of one output"):
        el2n(nn.Linear(2, 1), (torch.eye(2), [0, 1]), softmax=True)


def test_gradient_norm_is_that_of_each_samples_loss(given: Problem) -> None:
    close(gradient_norm(given.model, given.train), loss_gradients(given.model, *given.train).norm(dim=1), rtol=1e-10)


def test_tracin_sums_gradient_products_over_checkpoints(given: Problem, checkpoints: list[dict[str, Tensor]]) -> None:
    rates = [0.5, 1.0, 2.0]
    found = tracin(given.model, checkpoints, given.train, given.val, rates=rates)
    own, cross, moved = torch.zeros(14), torch.zeros(14, 9), torch.zeros(14, 9, 2)
    network = copy.deepcopy(given.model)
    for rate, state in zip(rates, checkpoints, strict=True):
        network.load_state_dict(state)
        left, right = loss_gradients(network, *given.train), loss_gradients(network, *given.val)
        own = own + rate * left.square().sum(1)
        cross = cross + rate * left @ right.T
        moved = moved - rate * torch.einsum("nd,mkd->nmk", left, jacobian_rows(network, given.val[0]))
    close(found.own, own, rtol=1e-10)
    close(found.cross, cross, rtol=1e-9, atol=1e-12)
    close(found.output_changes, moved, rtol=1e-9, atol=1e-12)


def test_tracin_of_every_step_tells_what_small_steps_did(given: Problem) -> None:
    """Descent moves an output by the sum of what its samples' gradients do, to the order of the step."""
    model, (inputs, targets) = trained(steps=1).model, given.train
    start, rate = model(given.val[0]).detach(), 1e-4
    states = []
    for _ in range(20):
        states.append(copy.deepcopy(model.state_dict()))
        loss = (model(inputs) - targets).square().sum() / 2 / 14
        slopes = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, slope in zip(model.parameters(), slopes, strict=True):
                parameter.sub_(rate * slope)
    found = tracin(model, states, given.train, given.val, rates=rate / 14)
    assert found.output_changes is not None
    moved = (model(given.val[0]).detach() - start).numpy()
    close(found.output_changes.sum(0), moved, rtol=0, atol=1e-3 * np.abs(moved).max())


def test_tracin_leaves_the_network_where_it_was(given: Problem, checkpoints: list[dict[str, Tensor]]) -> None:
    before = copy.deepcopy(given.model.state_dict())
    tracin(given.model, checkpoints, given.train)
    assert all(torch.equal(tensor, before[name]) for name, tensor in given.model.state_dict().items())


def test_tracin_without_validation_data_has_its_own_influence_only(
    given: Problem, checkpoints: list[dict[str, Tensor]]
) -> None:
    found = tracin(given.model, checkpoints, given.train)
    assert found.cross is None
    assert found.output_changes is None


def test_tracin_wants_a_rate_for_each_checkpoint(given: Problem, checkpoints: list[dict[str, Tensor]]) -> None:
    with pytest.raises(InputError, match="2 for 3 checkpoints"):
        tracin(given.model, checkpoints, given.train, rates=[1.0, 2.0])


def test_tracin_wants_checkpoints(given: Problem) -> None:
    with pytest.raises(InputError, match="there are none"):
        tracin(given.model, [], given.train)


def test_forgetting_counts_how_often_right_became_wrong() -> None:
    model = nn.Linear(1, 1, bias=False)
    states = [{"weight": torch.tensor([[w]])} for w in (1.0, 0.1, 1.0, 0.1)]
    X, labels = torch.tensor([[1.0], [1.0], [-1.0], [-1.0]]), np.array([1, 0, 0, 1])
    assert forgetting(model, states, (X, labels)).tolist() == [2.0, 1.0, 0.0, np.inf]


def test_forgetting_of_several_outputs_goes_by_the_largest() -> None:
    model = nn.Linear(1, 3, bias=False)
    states = [{"weight": torch.tensor(w)[:, None]} for w in ([0.0, 1.0, 2.0], [2.0, 1.0, 0.0])]
    assert forgetting(model, states, (torch.ones(3, 1), np.array([2, 0, 1]))).tolist() == [1.0, 0.0, np.inf]


def test_forgetting_refuses_regression(given: Problem, checkpoints: list[dict[str, Tensor]]) -> None:
    with pytest.raises(InputError, match="labels must be integers"):
        forgetting(given.model, checkpoints, given.train)


def test_random_scores_repeat_with_their_seed() -> None:
    np.testing.assert_array_equal(random_scores(5, seed=1), random_scores(5, seed=1))
    assert not np.array_equal(random_scores(5, seed=1), random_scores(5, seed=2))
