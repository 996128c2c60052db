"""Losses and their derivatives, held against torch's own and its automatic differentiation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.oracles.any_loss import torch_loss
from uniqueinfo.errors import InputError
from uniqueinfo.training import Converged, GradientDescent, GradientFlow, Training
from uniqueinfo.training.loss_names import LIKELIHOOD, LOSSES
from uniqueinfo.training.losses import as_loss


def problem(name: str, k: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    outputs = 2 * torch.randn(9, k, dtype=torch.float64, generator=generator)
    if name == "cross-entropy":
        picked = torch.arange(9) % max(2, k)
        return outputs, (picked.double()[:, None] if k == 1 else torch.eye(k, dtype=torch.float64)[picked])
    most = 2 if name == "logistic" else 5
    return outputs, torch.randint(most, (9, k), generator=generator).double()


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", [*LOSSES, LIKELIHOOD])
def test_values_are_those_of_torch(name: str, k: int) -> None:
    outputs, targets = problem(name, k)
    torch.testing.assert_close(as_loss(name).value(outputs, targets), torch_loss(name)(outputs, targets))


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", [*LOSSES, LIKELIHOOD])
def test_derivatives_are_those_of_automatic_differentiation(name: str, k: int) -> None:
    outputs, targets = problem(name, k)
    by_hand, by_torch = as_loss(name), as_loss(torch_loss(name))
    torch.testing.assert_close(by_hand.gradient(outputs, targets), by_torch.gradient(outputs, targets))
    torch.testing.assert_close(by_hand.curvature(outputs, targets), by_torch.curvature(outputs, targets))


def test_probabilities_of_two_classes_that_share_a_logit() -> None:
    found = as_loss("cross-entropy").probabilities(torch.tensor([[0.0], [2.0]]))
    torch.testing.assert_close(found, torch.softmax(torch.tensor([[0.0, 0.0], [0.0, 2.0]]), dim=1))


def test_a_loss_that_is_not_convex_is_refused() -> None:
    with pytest.raises(InputError, match="convex in the outputs"):
        as_loss(lambda f, y: -(f - y).square().sum(dim=1)).curvature(torch.ones(1, 2), torch.zeros(1, 2))


def test_a_loss_that_gives_one_number_for_all_is_refused() -> None:
    with pytest.raises(InputError, match="one number per sample"):
        as_loss(lambda f, y: (f - y).square().sum()).value(torch.ones(3, 2), torch.zeros(3, 2))


def test_an_unknown_loss_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match='"logistic", "huber"'):
        GradientFlow(0.1, 1.0, loss="hinge")


@pytest.mark.parametrize(
    ("name", "targets", "message"),
    [
        ("cross-entropy", [[0.3, 0.3]], "add up to one"),
        ("logistic", [[2.0, 0.0]], "0, 1 or"),
        ("poisson", [[-1.0]], "below 0"),
        ("likelihood", [[0.0, 1.0]], "sequence_likelihood"),
    ],
)
def test_targets_without_a_meaning_are_refused(name: str, targets: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_loss(name).check(torch.tensor(targets))


def test_running_to_the_end_needs_weight_decay() -> None:
    with pytest.raises(InputError, match="set weight_decay"):
        Converged(loss="cross-entropy")


@pytest.mark.parametrize("training", [Converged(0.1, loss="huber"), GradientDescent(0.1, 5, loss="poisson")])
def test_settings_bring_the_loss_back(training: Training) -> None:
    assert Training.from_settings(training.settings()) == training


def test_settings_of_an_own_function_say_that_it_is_not_saved() -> None:
    settings = GradientFlow(0.1, 1.0, loss=torch_loss("mse")).settings()
    with pytest.raises(InputError, match="which is not saved"):
        Training.from_settings(settings)
