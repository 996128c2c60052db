"""A recording of the user's own loop: what it keeps, how it goes on, what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from uniqueinfo.errors import InputError


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


def batches(steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        yield torch.randn(8, 3, generator=generator), torch.randint(2, (8,), generator=generator)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, recording: ui.Recording, steps: int) -> None:
    for inputs, labels in batches(steps):
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(inputs), labels))
        optimizer.step()
        recording.step()


def recorded(folder: Path, steps: int = 40, **options: Any) -> ui.Recorded:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, **options)
    with ui.Recording(folder, model, optimizer, checkpoints=5) as recording:
        train(model, optimizer, recording, steps)
    return ui.Recorded(folder)


def test_checkpoints_are_few_and_geometric(tmp_path: Path) -> None:
    steps = [point["step"] for point in recorded(tmp_path / "r", steps=300).points]
    assert steps[0] == 0
    assert steps[-1] == 300
    assert len(steps) <= 5 + 2
    assert all(later / before < 8 for before, later in pairwise(steps[1:]))
    assert len(list((tmp_path / "r").glob("point-*"))) == len(steps)  # what was thinned out is gone


def test_momentum_makes_every_step_longer(tmp_path: Path) -> None:
    stretches = recorded(tmp_path / "r", momentum=0.9).stretches
    assert sum(stretch.time for stretch in stretches) == pytest.approx(40 * 0.1 / (1 - 0.9))


@pytest.mark.parametrize("late", [False, True], ids=["before the schedule", "after the schedule"])
def test_the_rates_of_a_schedule_are_kept_as_they_were_used(tmp_path: Path, late: bool) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    recording = ui.Recording(tmp_path / "r", model, optimizer)
    rates = []
    for inputs, labels in batches(7):
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(inputs), labels))
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
        for act in (schedule.step, recording.step) if late else (recording.step, schedule.step):
            act()
    assert recording.finish().steps.rates[:, 0].tolist() == rates


def test_the_last_checkpoint_is_the_network_after_training(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    recording = ui.Recording(tmp_path / "r", model, optimizer)
    train(model, optimizer, recording, 9)
    state = recording.finish().state(-1)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(state[name], value)


def test_adam_is_scaled_by_the_root_of_its_second_moments(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    recording = ui.Recording(tmp_path / "r", model, optimizer)
    train(model, optimizer, recording, 9)
    scales = recording.finish().scales()
    weight = dict(model.named_parameters())["0.weight"]
    unbiased = optimizer.state[weight]["exp_avg_sq"] / (1 - 0.999**9)
    torch.testing.assert_close(scales["0.weight"] ** 2, 1 / (unbiased.sqrt() + 1e-8))


def test_groups_count_by_the_ratio_of_their_rates_and_frozen_parameters_not_at_all(tmp_path: Path) -> None:
    model = network()
    first, last = model.get_submodule("0"), model.get_submodule("2")
    dict(first.named_parameters())["bias"].requires_grad_(False)
    groups = [{"params": list(first.parameters()), "lr": 0.1}, {"params": list(last.parameters()), "lr": 0.4}]
    optimizer = torch.optim.SGD(groups)
    recording = ui.Recording(tmp_path / "r", model, optimizer)
    train(model, optimizer, recording, 3)
    scales = recording.finish().scales()
    assert set(scales) == {"0.weight", "2.weight", "2.bias"}
    assert float(scales["2.bias"][0]) == pytest.approx(2.0)  # √4


def test_batches_and_outputs_are_kept_in_their_order(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recording = ui.Recording(tmp_path / "r", model, optimizer)
    said = []
    for step, (inputs, labels) in enumerate(batches(9)):
        optimizer.zero_grad()
        outputs = model(inputs)
        torch.autograd.backward(nn.functional.cross_entropy(outputs, labels))
        optimizer.step()
        recording.step(range(step, step + 8), outputs)
        said.append(outputs.detach())
    steps = recording.finish().steps
    assert steps.positions is not None
    assert steps.outputs is not None
    assert steps.positions.reshape(9, 8)[:, 0].tolist() == list(range(9))
    torch.testing.assert_close(torch.from_numpy(steps.outputs), torch.cat(said))


def test_accumulated_gradients_count_with_the_step_that_follows_them(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recording = ui.Recording(tmp_path / "r", model, optimizer)
    for number, (inputs, labels) in enumerate(batches(6)):
        torch.autograd.backward(nn.functional.cross_entropy(model(inputs), labels))
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
        recording.step([number] * 8)
    recording.step([9] * 8)  # for a step that never comes
    steps = recording.finish().steps
    assert steps.sizes is not None
    assert steps.positions is not None
    assert steps.sizes.tolist() == [16, 16, 16]
    assert steps.positions.tolist() == [number for number in range(6) for _ in range(8)]


def test_positions_and_outputs_of_other_numbers_of_samples_are_refused(tmp_path: Path) -> None:
    model = network()
    recording = ui.Recording(tmp_path / "r", model, torch.optim.SGD(model.parameters(), lr=0.1))
    with pytest.raises(InputError, match="3 positions and outputs of 2 samples"):
        recording.step([0, 1, 2], torch.zeros(2, 2))


def test_a_killed_training_leaves_what_it_reached(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, ui.Recording(tmp_path / "r", model, optimizer), 20)  # and no finish
    steps = [point["step"] for point in ui.Recorded(tmp_path / "r").points]
    assert 20 / 1.5 <= steps[-1] <= 20


def test_a_resumed_training_goes_on_with_its_recording(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, ui.Recording(tmp_path / "r", model, optimizer), 20)
    recording = ui.Recording(tmp_path / "r", model, optimizer, resume=20)
    train(model, optimizer, recording, 10)
    found = recording.finish()
    assert found.points[-1]["step"] == 30
    assert found.steps.rates[:, 0].tolist() == [0.1] * 30


def test_another_training_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    recorded(tmp_path / "r")
    with pytest.raises(InputError, match="holds a recording already"):
        recorded(tmp_path / "r")


def test_an_optimizer_that_is_not_followed_is_named(tmp_path: Path) -> None:
    model = network()
    with pytest.raises(InputError, match="LBFGS is not followed; SGD, Adam"):
        ui.Recording(tmp_path / "r", model, torch.optim.LBFGS(model.parameters()))


def test_parameters_of_another_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the model"):
        ui.Recording(tmp_path / "r", network(), torch.optim.SGD(network().parameters(), lr=0.1))


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    found = recorded(tmp_path / "r")
    (tmp_path / "r" / f"{found.points[0]['file']}.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match="missing or damaged"):
        found.state(0)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder of the recording of a training"):
        ui.Recorded(tmp_path)
