"""Scores along a training that happened, held against really training again without samples."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

import uniqueinfo as ui
from tests.oracles.compare import close
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import exact_kernels
from uniqueinfo.linearization.network import both_ends
from uniqueinfo.scoring.recorded import recorded_network
from uniqueinfo.types import Floats

Optimizers = Callable[[nn.Module], torch.optim.Optimizer]
N, M, STEPS = 30, 20, 60


def data() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(N + M, 6, generator=generator, dtype=torch.float64)
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).long() + (X[:, 2] > 1).long()
    return X[:N], y[:N], X[N:], y[N:]


def network(hidden: int = 0) -> nn.Module:
    """Linear, so that its linearization is itself; or with a hidden layer."""
    torch.manual_seed(0)
    if not hidden:
        return nn.Linear(6, 3).double()
    return nn.Sequential(nn.Linear(6, hidden), nn.Tanh(), nn.Linear(hidden, 3)).double()


def trained(make: Optimizers, model: nn.Module, left: int | None, folder: Path | None = None) -> Tensor:
    """Full-batch training on all samples but one; outputs of the validation samples."""
    X, y, X_val, _ = data()
    keep = torch.tensor([i for i in range(N) if i != left])
    optimizer = make(model)
    recording = None if folder is None else ui.Recording(folder, model, optimizer, checkpoints=24)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(X[keep]), y[keep]))
        optimizer.step()
        if recording is not None:
            recording.step()
    if recording is not None:
        recording.finish()
    found: Tensor = model(X_val).detach()
    return found


def amounts(make: Optimizers, start: nn.Module, folder: Path) -> Floats:
    """½ the mean squared change of the validation outputs without each sample; the first training is recorded."""
    full = trained(make, deepcopy(start), None, folder)
    without = [trained(make, deepcopy(start), left) for left in range(N)]
    return np.array([float((full - each).square().sum() / (2 * M)) for each in without])


def scored(start: nn.Module, folder: Path, **options: Any) -> ui.Scores:
    X, y, X_val, y_val = data()
    return ui.score(start, (X, y), (X_val, y_val), training=ui.Recorded(folder), projection=None, **options)


def sgd(**options: Any) -> Optimizers:
    return lambda model: torch.optim.SGD(model.parameters(), lr=0.2, **options)


@pytest.mark.parametrize("options", [{}, {"momentum": 0.5}, {"weight_decay": 0.1}], ids=str)
def test_a_linear_model_by_sgd_is_followed_exactly(options: dict[str, float], tmp_path: Path) -> None:
    start = network()
    truth = amounts(sgd(**options), start, tmp_path / "r")
    found = scored(start, tmp_path / "r").functional
    close(found, truth, rtol=0.05)  # outputs are known at the checkpoints alone


def test_a_linear_model_by_adam_is_followed_though_nobody_told_its_batches(tmp_path: Path) -> None:
    start = network()
    truth = amounts(lambda model: torch.optim.AdamW(model.parameters(), lr=0.02), start, tmp_path / "r")
    found = scored(start, tmp_path / "r").functional
    close(found, truth, rtol=0.1, atol=0.02 * truth.max())


def test_a_network_is_followed_more_closely_than_by_scores_that_know_nothing_of_it(tmp_path: Path) -> None:
    start = network(hidden=16)
    truth = amounts(sgd(), start, tmp_path / "r")
    X, y, X_val, y_val = data()
    found, default = scored(start, tmp_path / "r").functional, ui.score(start, (X, y), (X_val, y_val)).functional
    followed, blind = (float(spearmanr(each, truth)[0]) for each in (found, default))
    assert followed > 0.9
    assert followed > blind


def test_outputs_are_those_of_the_trained_network(tmp_path: Path) -> None:
    start, end = network(hidden=16), network(hidden=16)
    trained(sgd(), end, None, tmp_path / "r")
    close(scored(start, tmp_path / "r").outputs, end(data()[0]).detach().numpy(), rtol=1e-6)


def test_a_run_folder_gives_the_same(tmp_path: Path) -> None:
    start = network(hidden=16)
    trained(sgd(), deepcopy(start), None, tmp_path / "r")
    plain, stored = scored(start, tmp_path / "r"), scored(start, tmp_path / "r", out=tmp_path / "run")
    for name in ("weight", "functional", "kl", "value", "loo_outputs"):
        close(getattr(stored, name), getattr(plain, name), rtol=1e-9)


def test_groups_leave_a_recorded_training_too(tmp_path: Path) -> None:
    start = network()
    trained(sgd(), deepcopy(start), None, tmp_path / "r")
    found = scored(start, tmp_path / "r").origin.information([[0], [1, 2]])
    close(found[0], scored(start, tmp_path / "r").information[0], rtol=1e-6)


def test_checkpoints_that_are_there_already(tmp_path: Path) -> None:
    """Every twentieth step of a training by plain descent, with its rate: as if it had been recorded."""
    X, y, X_val, y_val = data()
    start = network()
    model = deepcopy(start)
    optimizer = sgd()(model)
    states, steps = [deepcopy(model.state_dict())], [0]
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(X), y))
        optimizer.step()
        if step in (1, 2, 4, 8, 16, 32, STEPS):
            states.append(deepcopy(model.state_dict()))
            steps.append(step)
    recording = ui.Recorded.from_checkpoints(states, steps, folder=tmp_path / "c", lr=0.2)
    found = ui.score(start, (X, y), (X_val, y_val), training=recording, projection=None).functional
    truth = amounts(sgd(), start, tmp_path / "r")
    assert spearmanr(found, truth)[0] > 0.98


def test_only_what_the_optimizer_had_is_linearized(tmp_path: Path) -> None:
    """Two layers of which the last alone is trained: as if the first had been frozen."""
    start = network(hidden=16)
    trained(lambda model: torch.optim.SGD(list(model.parameters())[2:], lr=0.2), deepcopy(start), None, tmp_path / "r")
    found = scored(start, tmp_path / "r").functional
    for parameter in list(start.parameters())[:2]:
        parameter.requires_grad_(False)
    close(found, scored(start, tmp_path / "r").functional, rtol=1e-9)


def test_an_optimizer_that_is_not_followed_has_no_checkpoints(tmp_path: Path) -> None:
    states = [network().state_dict()] * 2
    with pytest.raises(InputError, match="lion is not followed; SGD, Adam"):
        ui.Recorded.from_checkpoints(states, [0, 1], folder=tmp_path / "c", lr=0.1, optimizer="lion")


def test_another_network_than_the_recorded_one_is_refused(tmp_path: Path) -> None:
    trained(sgd(), network(), None, tmp_path / "r")
    with pytest.raises(InputError, match="is not the network of the recording"):
        scored(network(hidden=16), tmp_path / "r")


def test_gradients_of_two_checkpoints_are_those_of_the_trained_network(tmp_path: Path) -> None:
    start, end = network(8), network(8)
    trained(sgd(), end, None)
    states = [start.state_dict(), end.state_dict()]
    recording = ui.Recorded.from_checkpoints(states, [0, STEPS], folder=tmp_path / "r", lr=0.2)
    X = data()[0]
    kernels = [
        exact_kernels(each, [X], memory=2**30).train
        for each in (recorded_network(start, recording), both_ends(start, end))
    ]
    np.testing.assert_array_equal(kernels[0].numpy(), kernels[1].numpy())
