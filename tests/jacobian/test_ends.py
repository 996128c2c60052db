"""Gradients at both ends of a training stand for all of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import exact_kernels
from uniqueinfo.jacobian.ends import BothEnds

TRAINING = ui.GradientDescent(lr=0.3, steps=150)


def network(hidden: int = 20) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, 1)).double()


def data(count: int, seed: int) -> tuple[Tensor, Tensor]:
    X = torch.from_numpy(np.random.default_rng(seed).normal(size=(count, 3)))
    return X, (X[:, 0] * X[:, 1] > 0).double()


@pytest.fixture(scope="module")
def after() -> dict[str, Tensor]:
    """The weights after training on all samples."""
    found = retrain(network(), data(40, 0), training=TRAINING, samples=[0], progress=False)
    return {name: torch.from_numpy(w) for name, w in found.trained.items()}


def test_the_kernel_is_the_mean_of_both_and_outputs_are_those_before_training(after: dict[str, Tensor]) -> None:
    start, end, (X, _) = network(), network(), data(6, 1)
    end.load_state_dict(after)
    one, other, both = (exact_kernels(m, [X], [X], memory=1 << 30) for m in (start, end, BothEnds(start, end)))
    torch.testing.assert_close(both.train, (one.train + other.train) / 2)
    torch.testing.assert_close(both.outputs, one.outputs)


def test_with_the_trained_network_scores_follow_the_real_one_more_closely(after: dict[str, Tensor]) -> None:
    train, val = data(40, 0), data(60, 1)
    truth = retrain(network(), train, val, training=TRAINING, progress=False)
    assert truth.functional is not None
    agreement = []
    for trained in (None, after):
        scores = ui.score(network(), train, val, training=TRAINING, trained=trained, progress=False)
        assert scores.functional is not None
        agreement.append(np.corrcoef(scores.functional, truth.functional)[0, 1])
    assert 1 - agreement[1] < 0.5 * (1 - agreement[0])


def test_a_trained_module_and_its_weights_give_the_same(after: dict[str, Tensor]) -> None:
    end = network()
    end.load_state_dict(after)
    given = network(), data(10, 0), data(5, 1)
    found = [ui.score(*given, training=TRAINING, trained=trained, progress=False) for trained in (end, after)]
    np.testing.assert_array_equal(found[0].weight, found[1].weight)


def test_rows_projected_from_both_ends_give_the_same_scores_as_kernels(after: dict[str, Tensor]) -> None:
    given = network(), data(10, 0), data(5, 1)
    kernels, rows = (
        ui.score(*given, training=TRAINING, trained=after, projection=None, form=form, progress=False)
        for form in ("auto", "primal")
    )
    np.testing.assert_allclose(kernels.weight, rows.weight, rtol=1e-5)  # rows are float32


def test_the_networks_stay_as_they_were(after: dict[str, Tensor]) -> None:
    start, kept = network(), deepcopy(after)
    before = deepcopy(start.state_dict())
    ui.score(start, data(10, 0), training=TRAINING, trained=after, progress=False)
    assert all(torch.equal(w, before[name]) for name, w in start.state_dict().items())
    assert all(torch.equal(w, kept[name]) for name, w in after.items())


@pytest.mark.parametrize("wrong", [lambda: {"0.weight": torch.zeros(2)}, lambda: nn.Linear(1, 1), lambda: 3])
def test_weights_of_another_network_are_refused_with_what_to_give(wrong: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=r"trained: does not fit the network .* give the same network after"):
        ui.score(network(), data(10, 0), training=TRAINING, trained=wrong())
