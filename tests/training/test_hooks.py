"""What the callbacks of libraries share: what is recorded of a wrapped network, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import uniqueinfo as ui
from uniqueinfo.errors import InputError
from uniqueinfo.training.hooks import Hooked, bare, callback_class, unwrapped


class Wrapping(torch.optim.Optimizer):
    """An optimizer around another, as accelerate has it."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    def step(self, closure: Any = None) -> Any:
        return self.optimizer.step(closure)


class FullyShardedDataParallel(nn.Module):
    """Called as torch's, which needs processes."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module


def network() -> nn.Linear:
    torch.manual_seed(0)
    found = nn.Linear(3, 2)
    for parameter in found.parameters():
        parameter.grad = torch.ones_like(parameter)
    return found


def test_a_library_that_is_missing_is_named_when_its_callback_is_made() -> None:
    class Callback(callback_class("Callback", ("nowhere.pytorch", "nowhere_else"), "'uniqueinfo[nowhere]'")):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()

    with pytest.raises(InputError, match=r"Callback: nowhere.pytorch cannot be .*'nowhere'.*'uniqueinfo\[nowhere\]'"):
        Callback()


def test_a_class_comes_from_the_first_home_that_is_there() -> None:
    assert callback_class("Linear", ("nowhere", "torch.nn"), "torch") is nn.Linear


def test_network_and_optimizer_are_taken_out_of_their_wrappers(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled: Any = torch.compile(model, backend="eager")
    wrapped, wrapping = nn.DataParallel(compiled), Wrapping(Wrapping(optimizer))
    assert unwrapped(wrapped) is model
    assert bare(wrapping) is optimizer
    hooked = Hooked(tmp_path / "r", "cross-entropy", 8)
    hooked.begin(wrapped, wrapping, done=0)
    wrapping.step()
    hooked.finish()
    found = ui.Recorded(tmp_path / "r")
    assert found.points[-1]["step"] == 1
    assert found.trained == {"weight", "bias"}


def test_the_rate_is_that_of_the_step_wherever_the_schedule_is_called(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    hooked = Hooked(tmp_path / "r", "cross-entropy", 8)
    hooked.begin(model, optimizer, done=0)
    for _ in range(5):
        optimizer.step()
        schedule.step()
    hooked.finish()
    assert ui.Recorded(tmp_path / "r").steps.rates[:, 0].tolist() == [1 / (1 + step) for step in range(5)]


def test_a_step_that_mixed_precision_skips_does_not_count(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    hooked = Hooked(tmp_path / "r", "cross-entropy", 8)
    hooked.begin(model, optimizer, done=0)
    for factor in (float("inf"), 1.0, 1.0):
        optimizer.zero_grad()
        torch.autograd.backward(scaler.scale(model(torch.ones(1, 3)).sum() * factor))
        scaler.step(optimizer)
        scaler.update()
    hooked.finish()
    assert ui.Recorded(tmp_path / "r").points[-1]["step"] == 2


def test_finished_it_counts_no_further(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    hooked = Hooked(tmp_path / "r", "cross-entropy", 8)
    hooked.finish()  # nothing was begun
    hooked.begin(model, optimizer, done=0)
    optimizer.step()
    hooked.finish()
    hooked.finish()
    optimizer.step()
    assert not hooked.running
    assert ui.Recorded(tmp_path / "r").points[-1]["step"] == 1


def test_a_network_in_shards_is_refused(tmp_path: Path) -> None:
    model = FullyShardedDataParallel(network())
    with pytest.raises(InputError, match="cut in shards"):
        Hooked(tmp_path / "r", "cross-entropy", 8).begin(model, torch.optim.SGD(model.parameters(), lr=0.1), done=0)
    assert not (tmp_path / "r").exists()
