"""A recorded training, its steps taken again: held against really training again without samples.

For a linear network, followed in all of its weights, both are the same but for rounding: rows and weights are float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
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
from uniqueinfo.jacobian.coordinates import choose_coordinates
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.removal.retracing import Retraced
from uniqueinfo.samples.samples import as_samples
from uniqueinfo.scoring import retraced
from uniqueinfo.types import Floats

Optimizers = Callable[[nn.Module], torch.optim.Optimizer]
N, M, BATCH, STEPS = 24, 12, 6, 24
OPTIMIZERS: dict[str, Optimizers] = {
    "SGD": lambda model: torch.optim.SGD(model.parameters(), lr=0.1),
    "momentum": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1),
    "Nesterov": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8, nesterov=True),
    "Adam": lambda model: torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=0.1),
    "AdamW": lambda model: torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.1),
    "NAdam": lambda model: torch.optim.NAdam(model.parameters(), lr=0.02),
    "RAdam": lambda model: torch.optim.RAdam(model.parameters(), lr=0.02),
    "Adamax": lambda model: torch.optim.Adamax(model.parameters(), lr=0.02),
    "RMSprop": lambda model: torch.optim.RMSprop(model.parameters(), lr=0.02),
    "Adagrad": lambda model: torch.optim.Adagrad(model.parameters(), lr=0.05),
}


def data(outputs: int = 3) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(N + M, 5, generator=generator)
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).long() + (X[:, 2] > 1).long()
    return X[:N], y[:N], X[N:], y[N:]


def network(hidden: int = 0) -> nn.Module:
    torch.manual_seed(0)
    if not hidden:
        return nn.Linear(5, 3)
    return nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, 3))


def batches() -> Iterator[Tensor]:
    order = torch.Generator().manual_seed(1)
    for _ in range(STEPS * BATCH // N):
        yield from torch.split(torch.randperm(N, generator=order), BATCH)


def train(
    make: Optimizers,
    start: nn.Module,
    left: Sequence[int] = (),
    folder: Path | None = None,
    *,
    told: bool = True,
    clip: float | None = None,
    shorter: bool = False,
) -> Tensor:
    """Mini-batches and a falling rate; samples that are left out weigh nothing. Validation outputs after training.

    Steps are by the mean over those that stay, or `shorter` by as much as there are fewer.
    """
    X, y, X_val, _ = data()
    model, weight = deepcopy(start), torch.ones(N)
    weight[list(left)] = 0
    optimizer = make(model)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.05 * step))
    recording = None if folder is None else ui.Recording(folder, model, optimizer, clip=clip)
    for batch in batches():
        optimizer.zero_grad()
        outputs = model(X[batch])
        losses = nn.functional.cross_entropy(outputs, y[batch], reduction="none") * weight[batch]
        torch.autograd.backward(losses.sum() / (len(batch) if shorter else weight[batch].sum().clamp(min=1)))
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        schedule.step()
        if recording is not None:
            recording.step(*((batch, outputs) if told else ()))
    if recording is not None:
        recording.finish()
    with torch.no_grad():
        found: Tensor = model(X_val)
    return found


def truth(make: Optimizers, start: nn.Module, groups: Sequence[Sequence[int]], **options: Any) -> Floats:
    whole = train(make, start, **options)
    changes = [whole - train(make, start, group, **options) for group in groups]
    return np.array([float(change.square().sum() / (2 * M)) for change in changes])


def scored(start: nn.Module, folder: Path, **options: Any) -> ui.Scores:
    X, y, X_val, y_val = data()
    return ui.score(start, (X, y), (X_val, y_val), training=ui.Recorded(folder), progress=False, **options)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_linear_network_is_followed_to_rounding(name: str, tmp_path: Path) -> None:
    make, start = OPTIMIZERS[name], network()
    train(make, start, folder=tmp_path / "r")
    wanted = truth(make, start, [[i] for i in range(N)])
    close(scored(start, tmp_path / "r").functional, wanted, rtol=2e-3, atol=1e-4 * wanted.max())


def test_groups_that_leave_together_are_followed_to_rounding(tmp_path: Path) -> None:
    make, start, groups = OPTIMIZERS["AdamW"], network(), [[0, 1, 2], list(range(12))]
    train(make, start, folder=tmp_path / "r")
    found = scored(start, tmp_path / "r").origin.information(groups)
    close(found, truth(make, start, groups), rtol=2e-3)


def test_where_others_fill_the_batches_steps_are_shorter(tmp_path: Path) -> None:
    make, start, groups = OPTIMIZERS["momentum"], network(), [[3], list(range(12))]
    train(make, start, folder=tmp_path / "r")
    X, y, X_val, y_val = data()
    training = ui.Recorded(tmp_path / "r", place="shuffled")
    found = ui.score(start, (X, y), (X_val, y_val), training=training, progress=False).origin.information(groups)
    close(found, truth(make, start, groups, shorter=True), rtol=2e-3)


def test_shorter_steps_are_refused_for_optimizers_that_do_not_take_them(tmp_path: Path) -> None:
    train(OPTIMIZERS["AdamW"], network(), folder=tmp_path / "r")
    with pytest.raises(InputError, match="shorter steps of SGD, not of AdamW"):
        ui.Recorded(tmp_path / "r", place="shuffled")


def test_gradients_that_are_clipped_are_followed_to_rounding(tmp_path: Path) -> None:
    make, start = OPTIMIZERS["momentum"], network()
    train(make, start, folder=tmp_path / "r", clip=0.3)
    wanted = truth(make, start, [[i] for i in range(N)], clip=0.3)
    close(scored(start, tmp_path / "r").functional, wanted, rtol=2e-3, atol=1e-4 * wanted.max())


def test_groups_of_parameters_have_rates_and_decays_of_their_own(tmp_path: Path) -> None:
    def make(model: nn.Module) -> torch.optim.Optimizer:
        weight, bias = model.parameters()
        return torch.optim.AdamW([{"params": [bias], "lr": 0.1}, {"params": [weight], "weight_decay": 0.5}], lr=0.02)

    start = network()
    train(make, start, folder=tmp_path / "r")
    wanted = truth(make, start, [[i] for i in range(N)])
    close(scored(start, tmp_path / "r").functional, wanted, rtol=2e-3, atol=1e-4 * wanted.max())


@pytest.mark.parametrize("name", ["momentum", "AdamW"])
def test_an_order_that_was_not_told_is_followed_on_average(name: str, tmp_path: Path) -> None:
    make, start = OPTIMIZERS[name], network()
    train(make, start, folder=tmp_path / "r", told=False)
    found = scored(start, tmp_path / "r").functional
    assert spearmanr(found, truth(make, start, [[i] for i in range(N)]))[0] > 0.8


@pytest.mark.parametrize("name", ["momentum", "AdamW"])
def test_a_network_with_a_hidden_layer_is_followed_closely(name: str, tmp_path: Path) -> None:
    make, start = OPTIMIZERS[name], network(hidden=32)
    train(make, start, folder=tmp_path / "r")
    found = scored(start, tmp_path / "r")
    assert spearmanr(found.functional, truth(make, start, [[i] for i in range(N)]))[0] > 0.9
    assert 0 < found.settings["learnt"]["error"] < 0.5


def test_some_weights_stand_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, start = OPTIMIZERS["AdamW"], network(hidden=256)
    train(make, start, folder=tmp_path / "r")
    whole = scored(start, tmp_path / "r", projection=None)
    monkeypatch.setattr(retraced, "MOST_COLUMNS", {"others": 600})
    monkeypatch.setattr(retraced, "FEWEST_COLUMNS", 100)
    some = scored(start, tmp_path / "r")
    assert "of 2,307 weights stand for all" in some.settings["projection_why"]
    assert spearmanr(some.functional, whole.functional)[0] > 0.95


def test_the_kernel_of_chosen_weights_is_right_on_average() -> None:
    X = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
    samples = as_samples((X, torch.zeros(6, dtype=torch.long)), device="cpu", dtype=torch.float32)

    def kernel(rows: Tensor) -> Tensor:
        flat = rows.flatten(0, 1).double()
        return flat @ flat.T

    exact = kernel(RowEngine(model, X)(X)[0])
    drawn = [choose_coordinates([model], samples, {}, 200, seed=seed) for seed in range(40)]
    mean = torch.stack([kernel(RowEngine(model, X, each)(X)[0]) for each in drawn]).mean(dim=0)
    one = kernel(RowEngine(model, X, drawn[0])(X)[0])
    assert float((one - exact).norm() / exact.norm()) < 0.25
    assert float((mean - exact).norm() / exact.norm()) < 0.25 / 40**0.5 * 2


def test_those_behind_move_up_where_a_loader_does_not_shuffle(tmp_path: Path) -> None:
    X, y, X_val, y_val = data()

    def in_order(left: int | None, folder: Path | None = None) -> Tensor:
        kept = torch.tensor([i for i in range(N) if i != left])
        model = network()
        optimizer = OPTIMIZERS["momentum"](model)
        recording = None if folder is None else ui.Recording(folder, model, optimizer)
        for _ in range(5):
            for batch in torch.split(kept, 5):
                optimizer.zero_grad()
                torch.autograd.backward(nn.functional.cross_entropy(outputs := model(X[batch]), y[batch]))
                optimizer.step()
                if recording is not None:
                    recording.step(batch, outputs)
        if recording is not None:
            recording.finish()
        with torch.no_grad():
            found: Tensor = model(X_val)
        return found

    whole = in_order(None, tmp_path / "r")
    wanted = np.array([float((whole - in_order(left)).square().sum() / (2 * M)) for left in range(N)])
    training = ui.Recorded(tmp_path / "r", place="next")
    found = ui.score(network(), (X, y), (X_val, y_val), training=training, progress=False).functional
    assert found is not None
    close(found, wanted, rtol=2e-3, atol=1e-4 * wanted.max())


def test_batches_that_are_no_epochs_have_no_next_sample(tmp_path: Path) -> None:
    model = network()
    optimizer = OPTIMIZERS["SGD"](model)
    with ui.Recording(tmp_path / "r", model, optimizer) as recording:
        for _ in range(3):
            optimizer.step()
            recording.step([0, 1, 2])
    X, y, *_ = data()
    with pytest.raises(InputError, match="is for epochs that go through every sample once"):
        ui.score(model, (X, y), training=ui.Recorded(tmp_path / "r", place="next"), progress=False)


def test_effects_of_first_order_add_up(tmp_path: Path) -> None:
    start = network(hidden=8)
    train(OPTIMIZERS["momentum"], start, folder=tmp_path / "r")
    learnt = scored(start, tmp_path / "r").origin.run.learnt
    assert learnt is not None
    assert isinstance(learnt.how, Retraced)
    linear = replace(learnt.how, first_order=True)
    one, two, both = (linear(retraced.alone(linear, np.array([group]))) for group in ([1], [2], [1, 2]))
    torch.testing.assert_close(one + two, both, rtol=1e-4, atol=1e-6 * float(both.abs().max()))


def test_an_optimizer_that_has_only_steps_is_refused_where_they_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = network()
    train(OPTIMIZERS["RMSprop"], start, folder=tmp_path / "r")
    monkeypatch.setattr(retraced, "AFFORDABLE", 1.0)
    with pytest.raises(InputError, match="RMSprop is followed in no other way; score fewer samples"):
        scored(start, tmp_path / "r")


def test_outputs_of_something_else_are_refused(tmp_path: Path) -> None:
    model, (X, y, *_) = network(), data()
    optimizer = OPTIMIZERS["SGD"](model)
    with ui.Recording(tmp_path / "r", model, optimizer) as recording:
        for _ in range(3):
            optimizer.step()
            recording.step([0, 1], torch.zeros(2, 5))
    with pytest.raises(InputError, match="was told 5 outputs of each sample, and scores are of 3"):
        ui.score(model, (X, y), training=ui.Recorded(tmp_path / "r"), progress=False)


def test_batches_that_nobody_told_have_no_next_sample(tmp_path: Path) -> None:
    start = network()
    train(OPTIMIZERS["SGD"], start, folder=tmp_path / "r", told=False)
    X, y, *_ = data()
    with pytest.raises(InputError, match="was not told which samples were in its batches"):
        ui.score(start, (X, y), training=ui.Recorded(tmp_path / "r", place="next"), progress=False)


def test_a_sample_that_was_never_there_is_said(tmp_path: Path) -> None:
    start = network()
    train(OPTIMIZERS["SGD"], start, folder=tmp_path / "r")
    X, y, *_ = data()
    with pytest.raises(InputError, match="saw a sample at position 23, and there are 20"):
        ui.score(start, (X[:20], y[:20]), training=ui.Recorded(tmp_path / "r"), progress=False)


def test_what_is_too_much_for_steps_is_followed_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, start = OPTIMIZERS["momentum"], network()
    train(make, start, folder=tmp_path / "r")
    monkeypatch.setattr(retraced, "AFFORDABLE", 1.0)
    with pytest.warns(UserWarning, match="followed in stretches between its checkpoints"):
        found = scored(start, tmp_path / "r")
    assert "stretches" in found.settings["learnt"]
    assert spearmanr(found.functional, truth(make, start, [[i] for i in range(N)]))[0] > 0.6
