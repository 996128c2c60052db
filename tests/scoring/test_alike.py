"""Outputs that are taken to be alike: exact where they are, and one kernel of n × n whatever their number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from tests.oracles.compare import close

WANTED = ("functional", "weight", "value", "loo_outputs", "outputs")
TRAININGS = [ui.GradientDescent(0.05, 80), ui.Converged(0.01), ui.GradientFlow(0.05, 500.0, 0.1)]


def data(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 4, generator=generator, dtype=torch.float64), torch.arange(n) % 3


def headed() -> nn.Module:
    """Only its last layer is trained, so Θ = Θ̄ ⊗ I."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 30), nn.Tanh(), nn.Linear(30, 3)).double()
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    return model


def both(model: nn.Module, outputs: ui.OutputAverage, **options: Any) -> tuple[ui.Scores, ui.Scores]:
    train, val = data(15, 0), data(7, 1)
    return (
        ui.score(model, train, val, projection=None, **options),
        ui.score(model, train, val, projection=None, outputs=outputs, **options),
    )


@pytest.mark.parametrize("training", TRAININGS, ids=str)
@pytest.mark.parametrize("size", [1, 10])
def test_a_linear_head_is_scored_exactly(training: Any, size: int) -> None:
    exact, alike = both(headed(), ui.OutputAverage(size), training=training)
    assert alike.settings["form_side"] == 15
    assert exact.settings["form_side"] == 45
    for name in WANTED:
        expected = getattr(exact, name)
        close(getattr(alike, name), expected, rtol=1e-10, atol=1e-10 * float(np.abs(expected).max()))


def test_training_stops_at_the_shortest_that_is_nearly_the_best() -> None:
    exact, alike = both(headed(), ui.OutputAverage(3))
    steps, error = (np.array(exact.settings["stopping"][name]) for name in ("steps", "loo_loss"))
    close(alike.settings["stopping"]["loo_loss"], error, rtol=1e-8)
    good = error <= 1.02 * error.min()
    assert exact.settings["training"]["steps"] == steps[error.argmin()]
    assert alike.settings["training"]["steps"] == steps[good][0]
    assert alike.settings["stopping"]["near"] == 0.02


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_rows_say_what_kernels_say(form: Any) -> None:
    train, val, training = data(15, 0), data(7, 1), ui.GradientFlow(0.05, 500.0)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    common: dict[str, Any] = {"training": training, "outputs": ui.OutputAverage(2)}
    kernels = ui.score(model, train, val, projection=None, **common)
    rows = ui.score(model, train, val, projection=ui.RandomCoordinates(1000), form=form, **common)
    for name in WANTED:  # rows are float32: seven digits, of which a removal keeps five
        expected = getattr(kernels, name)
        close(getattr(rows, name), expected, rtol=1e-4, atol=1e-4 * float(np.abs(expected).max()))


def test_a_run_folder_holds_the_same_scores_and_answers_questions(tmp_path: Path) -> None:
    train, val, model = data(15, 0), data(7, 1), headed()
    common: dict[str, Any] = {"training": ui.Converged(0.01), "projection": None, "outputs": ui.OutputAverage(2)}
    held = ui.score(model, train, val, **common)
    stored = ui.score(model, train, val, out=tmp_path / "run", **common)
    for name in WANTED:
        np.testing.assert_array_equal(getattr(stored, name), getattr(held, name))
    whole = ui.score(model, train, val, training=ui.Converged(0.01), projection=None)
    one, other = (ui.attribute(each, 3).frame(everyone=True).sort_values("id")["change"] for each in (stored, whole))
    close(one.to_numpy(), other.to_numpy(), rtol=1e-8, atol=1e-12)


def test_a_linearization_speaks_of_all_outputs() -> None:
    model, train, val = headed(), data(15, 0), data(7, 1)
    exact, alike = (
        ui.linearize(model, train, val, projection=None, outputs=outputs) for outputs in (None, ui.OutputAverage(1))
    )
    one, other = (each.train(ui.Converged(0.01)) for each in (exact, alike))
    close(other.outputs(alike.validation), one.outputs(exact.validation), rtol=1e-10)
    by_rows = ui.linearize(model, train, projection=ui.RandomCoordinates(1000), outputs=ui.OutputAverage(1))
    assert by_rows.train(ui.Converged(0.01)).weights().shape == (30 * 3 + 3, 3)


OTHER_LOSSES = [
    ui.GradientFlow(0.05, 500.0, loss="cross-entropy"),
    ui.Converged(0.01, loss="cross-entropy"),
    ui.Auto(loss="cross-entropy"),
    ui.Converged(0.01, loss="huber"),
]


@pytest.mark.parametrize("training", OTHER_LOSSES, ids=str)
def test_a_linear_head_is_scored_exactly_under_another_loss(training: Any) -> None:
    exact, alike = both(headed(), ui.OutputAverage(3), training=training)
    for name in WANTED:  # stretches are chosen by an error of 1e-3, of which both have the same
        expected = getattr(exact, name)
        close(getattr(alike, name), expected, rtol=1e-6, atol=1e-6 * float(np.abs(expected).max()))


def test_mixed_outputs_know_squared_error_alone() -> None:
    with pytest.raises(ui.InputError, match="mixed outputs go with squared error alone"):
        ui.score(headed(), data(15, 0), training=ui.Auto(loss="cross-entropy"), outputs=ui.OutputSketch(1))
