"""Outputs by a function of network, inputs and targets: held against jacrev, and against training again."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import uniqueinfo as ui
from tests.oracles import any_loss
from tests.oracles.compare import close
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.functions import ByFunction, Numbers
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.together import joined

RIDGE = ui.Converged(0.05, loss="logistic")
SEVERAL = 3


def network(outputs: int = SEVERAL) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, outputs)).double()


def several(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Samples of which each has some of three labels."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(n, 4, generator=generator, dtype=torch.float64)
    return X, (X[:, :SEVERAL] + 0.5 * torch.randn(n, SEVERAL, generator=generator) > 0).double()


def margins(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    found: Tensor = (2 * targets - 1) * model(inputs)
    return found


def triplet(model: nn.Module, inputs: tuple[Tensor, ...], targets: None) -> Tensor:
    """How much nearer the second is to the first than the third is."""
    one, like, other = (model(each) for each in inputs)
    found: Tensor = (one - other).square().sum(dim=1) - (one - like).square().sum(dim=1)
    return found


@pytest.mark.parametrize("function", [margins, triplet])
def test_rows_are_those_of_automatic_differentiation(function: Numbers) -> None:
    X, y = several(5, 0)
    inputs = joined(X, y.numpy()) if function is margins else joined((X, X.roll(1, 0), X.roll(2, 0)), None)
    model = ByFunction(network(), function)
    rows, outputs = RowEngine(model, inputs)(inputs)
    torch.testing.assert_close(rows, jacobian_rows(model, inputs))
    torch.testing.assert_close(outputs, model(**inputs).detach())


def test_several_labels_are_scored_as_training_again_says() -> None:
    (X, y), (X_val, y_val), model = several(12, 0), several(7, 1), network()
    scores = ui.score(model, (X, y), (X_val, y_val), outputs=margins, training=RIDGE, projection=None)
    asked = ByFunction(model, margins)
    J, J_val = (jacobian_rows(asked, joined(x, t.numpy())).numpy() for x, t in ((X, y), (X_val, y_val)))
    start, start_val = (asked(**joined(x, t.numpy())).detach().numpy() for x, t in ((X, y), (X_val, y_val)))
    ones = np.ones_like(start)
    full = any_loss.weights(J, ones, start, RIDGE)
    assert scores.functional is not None
    assert scores.value is not None
    for sample in (0, 5):
        without = any_loss.weights(J, ones, start, RIDGE, [sample])
        before, after = (start_val + J_val @ w for w in (full, without))
        close(scores.functional[sample], np.square(before - after).sum(axis=1).mean() / 2, rtol=1e-5)
        losses = [np.logaddexp(0, -each).sum(axis=1).mean() for each in (before, after)]
        close(scores.value[sample], losses[1] - losses[0], rtol=1e-4, atol=1e-9)
        close(scores.loo_outputs[sample], start[sample] + J[sample] @ without, rtol=1e-5)


def test_margins_and_logits_of_several_labels_agree() -> None:
    (X, y), val, model = several(12, 0), several(7, 1), network()
    by_margin = ui.score(model, (X, y), val, outputs=margins, training=RIDGE, projection=None)
    by_logit = ui.score(model, (X, y), val, training=RIDGE, projection=None)
    close(by_margin.functional, by_logit.functional, rtol=1e-6)
    close(by_margin.value, by_logit.value, rtol=1e-6)


def test_residuals_by_a_function_are_regression() -> None:
    (X, y), (X_val, y_val), model = several(12, 0), several(7, 1), network()
    residual = ui.OutputFunction(lambda net, inputs, targets: net(inputs) - targets, towards=0, loss="mse")
    training = ui.Converged(0.05)
    found = ui.score(model, (X, y), (X_val, y_val), outputs=residual, training=training, projection=None)
    plain = ui.score(model, (X, y), (X_val, y_val), training=training, projection=None)
    close(found.functional, plain.functional, rtol=1e-6)
    close(found.value, plain.value, rtol=1e-6)


@pytest.mark.parametrize("projection", [None, ui.RandomCoordinates(40)])
def test_a_function_is_kept_with_its_run(projection: Any, tmp_path: Path) -> None:
    train, val, model = several(12, 0), several(7, 1), network()
    how: dict[str, Any] = {"outputs": margins, "training": RIDGE, "projection": projection}
    held = ui.score(model, train, val, **how)
    stored = ui.score(model, train, val, out=tmp_path / "run", **how)
    close(stored.functional, held.functional, rtol=1e-9)
    assert stored.settings["output_function"] == "margins"


def test_the_trained_network_is_asked_too() -> None:
    train, model, after = several(12, 0), network(), network()
    with torch.no_grad():
        after.get_parameter("2.weight").mul_(1.5)
    found = ui.score(model, train, train, outputs=margins, training=RIDGE, projection=None, trained=after)
    plain = ui.score(model, train, train, training=RIDGE, projection=None, trained=after.state_dict())
    close(found.functional, plain.functional, rtol=1e-6)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_a_recorded_training_is_followed_through_a_function(optimizer: Any, tmp_path: Path) -> None:
    (X, y), (X_val, y_val) = ((x.float(), t[:, :1].float()) for x, t in (several(16, 0), several(6, 1)))
    torch.manual_seed(0)
    start = nn.Linear(4, 1)

    def train(left: int | None = None, folder: Path | None = None) -> Tensor:
        model, weight = deepcopy(start), torch.ones(len(X))
        if left is not None:
            weight[left] = 0
        stepped = optimizer(model.parameters(), lr=0.05)
        recording = None if folder is None else ui.Recording(folder, model, stepped)
        for batch in torch.split(torch.arange(len(X)), 4) * 3:
            stepped.zero_grad()
            said = margins(model, X[batch], y[batch])
            losses = F.softplus(-said)[:, 0]
            torch.autograd.backward((losses * weight[batch]).sum() / weight[batch].sum())
            stepped.step()
            if recording is not None:
                recording.step(batch, said)
        if recording is not None:
            recording.finish()
        with torch.no_grad():
            found: Tensor = margins(model, X_val, y_val)
        return found

    whole = train(folder=tmp_path / "recording")
    training = ui.Recorded(tmp_path / "recording")
    scores = ui.score(start, (X, y), (X_val, y_val), outputs=margins, training=training, progress=False)
    wanted = np.array([float((whole - train(i)).square().sum() / 2 / len(X_val)) for i in range(len(X))])
    # rows and weights are float32
    close(scores.functional, wanted, rtol=2e-3, atol=1e-4 * wanted.max())


def test_outputs_of_a_function_are_no_classes() -> None:
    X, y = several(12, 0)
    labels = y[:, 0].long()
    scores = ui.score(
        network(1), (X, labels), (X, labels), outputs=lambda net, x, t: (2 * t[:, None] - 1) * net(x), training=RIDGE
    )
    with pytest.raises(InputError, match="outputs by a function"):
        ui.mislabeled(scores)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (lambda net, x, t: net(x).sum(), r"\(5,\) or \(5, q\) for a batch of 5; got shape \(\)"),
        (lambda net, x, t: None, "got NoneType"),
        (3, "expected an OutputSketch, or a function"),
    ],
)
def test_what_is_no_output_is_refused(outputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ui.score(network(), several(12, 0), outputs=outputs)


@pytest.mark.parametrize("classes", [2, 5])
def test_margins_of_classes_are_scored_as_training_again_says(classes: int) -> None:
    (X, _), (X_val, _), model = several(12, 0), several(7, 1), network(classes)
    y, y_val = torch.arange(12) % classes, torch.arange(7) % classes
    scores = ui.score(model, (X, y), (X_val, y_val), outputs=ui.class_margin, training=RIDGE, projection=None)
    asked = ByFunction(model, ui.class_margin)
    J, J_val = (jacobian_rows(asked, joined(x, t.numpy())).numpy() for x, t in ((X, y), (X_val, y_val)))
    start, start_val = (asked(**joined(x, t.numpy())).detach().numpy() for x, t in ((X, y), (X_val, y_val)))
    close(np.logaddexp(0, -start[:, 0]), F.cross_entropy(model(X), y, reduction="none").detach().numpy(), rtol=1e-12)
    full, without = (any_loss.weights(J, np.ones_like(start), start, RIDGE, gone) for gone in ([], [5]))
    before, after = (start_val + J_val @ w for w in (full, without))
    assert scores.functional is not None
    assert scores.value is not None
    close(scores.functional[5], np.square(before - after).sum(axis=1).mean() / 2, rtol=1e-5)
    gained = np.logaddexp(0, -after).mean() - np.logaddexp(0, -before).mean()
    close(scores.value[5], gained, rtol=1e-4, atol=1e-9)
    assert scores.loo_outputs.shape == (12, 1)


@pytest.mark.parametrize(
    ("outputs", "labels"),
    [(3, None), (3, [0.0, 0.0, 1.0, 1.0]), (1, [0, 0, 0, 0]), (3, [0, 1, 2, 3])],
    ids=["none", "numbers", "one output", "a class too many"],
)
def test_margins_of_what_has_no_classes_are_refused(outputs: int, labels: Any) -> None:
    targets = None if labels is None else torch.tensor(labels)
    with pytest.raises(InputError, match="class_margin"):
        ui.class_margin(network(outputs), torch.zeros(4, 4, dtype=torch.float64), targets)
