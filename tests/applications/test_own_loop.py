"""Scores held against the user's own training, with the ceiling that its seeds set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import uniqueinfo as ui
from uniqueinfo.errors import InputError

STEPS = 40


@pytest.fixture(scope="module")
def data() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(60, 4, generator=generator)
    y = (X[:, 0] + 0.7 * torch.randn(60, generator=generator) > 0).long()
    return X[:36], y[:36], X[36:], y[36:]


def loop(
    data: tuple[Tensor, Tensor, Tensor, Tensor], folder: Path | None = None
) -> Callable[[NDArray[np.intp], int], nn.Module]:
    """The user's own: every step leaves out three samples that the seed draws."""
    X, y, _, _ = data

    def train(positions: NDArray[np.intp], seed: int) -> nn.Module:
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)
        recording = None if folder is None else ui.Recording(folder, model, optimizer)
        order, here = torch.Generator().manual_seed(seed), torch.from_numpy(positions)
        for _ in range(STEPS):
            batch = here[torch.randperm(len(here), generator=order)[3:]]
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(X[batch]), y[batch]))
            optimizer.step()
            if recording is not None:
                recording.step()
        if recording is not None:
            recording.finish()
        return model

    return train


@pytest.fixture(scope="module")
def scores(data: tuple[Tensor, Tensor, Tensor, Tensor], tmp_path_factory: pytest.TempPathFactory) -> ui.Scores:
    folder = tmp_path_factory.mktemp("own") / "recording"
    loop(data, folder)(np.arange(36), 0)
    X, y, X_val, y_val = data
    torch.manual_seed(0)
    return ui.score(nn.Linear(4, 2), (X, y), (X_val, y_val), training=ui.Recorded(folder))


def test_agreement_comes_with_its_ceiling(scores: ui.Scores, data: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    found = ui.validate(scores, val=data[2:], train_function=loop(data))
    assert set(found.ceiling) == {"functional", "value"}
    assert found.spearman["functional"].value > 0.6
    assert f"agree {found.ceiling['functional']} with each other" in found.sentence


def test_every_single_output_is_compared(scores: ui.Scores, data: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    assert ui.validate(scores, val=data[2:], train_function=loop(data)).spearman["outputs"].value > 0.6


def test_a_training_without_chance_is_its_own_ceiling(
    scores: ui.Scores, data: tuple[Tensor, Tensor, Tensor, Tensor]
) -> None:
    train = loop(data)
    found = ui.validate(scores, val=data[2:], train_function=lambda positions, _: train(positions, 0))
    assert found.ceiling["functional"].value == pytest.approx(1.0)


def test_a_function_that_returns_no_network_is_named(
    scores: ui.Scores, data: tuple[Tensor, Tensor, Tensor, Tensor]
) -> None:
    with pytest.raises(InputError, match="expected it to return the trained network, got NoneType"):
        ui.validate(scores, val=data[2:], train_function=lambda *_: None)  # type: ignore[arg-type]


def test_a_network_of_other_outputs_is_named(scores: ui.Scores, data: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    with pytest.raises(InputError, match="gives 3 outputs, and the scores are of one with 2"):
        ui.validate(scores, val=data[2:], train_function=lambda positions, seed: nn.Linear(4, 3))


def test_a_training_that_is_not_repeated_here_points_to_the_own_loop(
    data: tuple[Tensor, Tensor, Tensor, Tensor], tmp_path: Path
) -> None:
    X, y, X_val, y_val = data
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with ui.Recording(tmp_path / "r", model, optimizer) as recording:
        optimizer.step()
        recording.step()
    with pytest.raises(InputError, match="hand over your own loop"):
        ui.validate(model, (X, y), (X_val, y_val), training=ui.Recorded(tmp_path / "r"))
