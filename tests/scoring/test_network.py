"""From a network to scores: against the Jacobian written out, and against really training the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev
from torch.utils.data import DataLoader, TensorDataset

import uniqueinfo as ui
from tests.oracles.compare import close
from tests.scoring.problems import contents
from uniqueinfo.jacobian import OutputSketch


def network(outputs: int = 3) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 9), nn.Tanh(), nn.Linear(9, outputs))


def data(n: int = 12, classes: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 4, generator=generator), torch.arange(n) % classes


def written_out(model: nn.Module, X: Tensor) -> tuple[Any, Any]:
    """The whole Jacobian (n, k, D) and the outputs, in float64."""
    parameters = {name: p.detach().double() for name, p in model.named_parameters()}
    jacobian = jacrev(lambda p: functional_call(model, p, X.double()))(parameters)
    flat = torch.cat([part.flatten(2) for part in jacobian.values()], dim=2)
    return flat.numpy(), functional_call(model, parameters, X.double()).detach().numpy()


@pytest.mark.parametrize("training", [ui.GradientDescent(0.1, 50), ui.Converged(0.01), "auto"])
def test_scores_of_a_network_are_those_of_its_jacobian(training: Any) -> None:
    model, (X, y), (X_val, y_val) = network(), data(), data(6, seed=1)
    J, start = written_out(model, X)
    J_val, start_val = written_out(model, X_val)
    expected = ui.score_jacobian(
        J, np.eye(3)[y] - start, J_val, np.eye(3)[y_val] - start_val, initial=start, training=training
    )
    found = ui.score(model, (X, y), (X_val, y_val), training=training, projection=None)
    # rows are float32: seven digits, of which a removal keeps five
    close(found.functional, expected.functional, rtol=1e-4)
    close(found.weight, expected.weight, rtol=1e-4)
    close(found.value, expected.value, atol=1e-4 * float(np.abs(expected.value).max()))  # type: ignore[arg-type]
    close(found.loo_outputs, expected.loo_outputs, atol=1e-4)


def test_rows_and_kernels_agree() -> None:
    model, train, val = network(), data(), data(6, seed=1)
    training = ui.GradientFlow(0.1, 100.0)
    kernels = ui.score(model, train, val, training=training, projection=None)
    rows = ui.score(model, train, val, training=training, projection=ui.RandomCoordinates(10_000), form="dual")
    assert kernels.settings["width"] is None
    assert rows.settings["width"] == sum(p.numel() for p in model.parameters())  # smaller layers are kept whole
    close(kernels.functional, rows.functional, rtol=1e-4)
    close(kernels.weight, rows.weight, rtol=1e-4)


def test_more_samples_than_parameters_take_the_primal_form() -> None:
    model = nn.Linear(4, 1)
    torch.manual_seed(1)
    X, y = data(40, classes=2)
    scores = ui.score(model, (X, y), (X, y), training=ui.Converged(0.1), projection=None)
    assert scores.settings["form"] == "primal"
    assert scores.settings["width"] == 5


def test_scores_come_in_the_order_of_the_data_set_whatever_the_loader_does() -> None:
    model, train = network(), TensorDataset(*data())
    training = ui.Converged(0.01)
    straight = ui.score(model, train, training=training)
    shuffled = ui.score(model, DataLoader(train, batch_size=5, shuffle=True), training=training)
    np.testing.assert_array_equal(straight.weight, shuffled.weight)
    np.testing.assert_array_equal(shuffled.labels, train.tensors[1].numpy())


def test_unlabelled_validation_gives_functional_information_without_value() -> None:
    scores = ui.score(network(), data(), data(6, seed=1)[0], training=ui.Converged(0.01))
    assert scores.functional is not None
    assert scores.value is None


def test_unlabelled_training_data_is_refused() -> None:
    for projection in (None, ui.RandomCoordinates(10)):
        with pytest.raises(ui.InputError, match="train: these samples have no labels"):
            ui.score(network(), data()[0], projection=projection)


def test_mixed_outputs_score_like_all_of_them() -> None:
    model, train, val = network(), data(), data(6, seed=1)
    training = ui.Converged(0.01)
    whole = ui.score(model, train, val, training=training, projection=None)
    mixed = ui.score(model, train, val, training=training, projection=None, outputs=OutputSketch(3))
    close(mixed.functional, whole.functional, rtol=1e-4)  # all three kept: only rotated
    fewer = [ui.score(model, train, val, training=training, outputs=OutputSketch(2, seed)) for seed in range(60)]
    assert fewer[0].loo_outputs.shape == (12, 2)
    total = np.mean([scores.functional.sum() for scores in fewer if scores.functional is not None])
    assert whole.functional is not None
    assert abs(total / whole.functional.sum() - 1) < 0.1  # two of three outputs are right on average


def test_the_network_is_left_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Linear(5, 3)).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    scores = ui.score(model, data(), training=ui.Converged(0.01))
    assert model.training
    assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert any("BatchNorm" in note for note in scores.settings["notes"])


def test_a_network_trained_on_meanwhile_is_refused() -> None:
    model = network()
    linearization = ui.linearize(model, data())
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    with pytest.raises(ui.InputError, match="the network has changed since it was linearized"):
        linearization.probe(data(6, seed=1))


def test_a_folder_keeps_the_rows_for_the_next_time(tmp_path: Path) -> None:
    model, train, val = network(), data(), data(6, seed=1)
    first = ui.score(model, train, val, training=ui.Converged(0.01), folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels", "owner.json"]
    before = contents(tmp_path)
    again = ui.score(model, train, val, training=ui.Converged(0.01), folder=tmp_path)
    np.testing.assert_array_equal(first.functional, again.functional)
    assert contents(tmp_path) == before


def test_small_networks_are_scored_exactly_and_larger_ones_projected() -> None:
    assert ui.linearize(network(), data()).projection is None
    wide = nn.Sequential(nn.Linear(4, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10))
    found = ui.linearize(wide, data(50), memory="300MB")
    assert isinstance(found.projection, ui.KernelCoordinates)
    assert found.width is not None
    assert abs(found.width / found.projection.total - 1) < 0.1


def test_a_small_budget_takes_rows_rather_than_fails() -> None:
    found = ui.linearize(network(), data(), memory="100MB")
    assert (found.kernels, found.projection) == (None, None)


def test_groups_leave_a_network() -> None:
    linearization = ui.linearize(network(), data(), data(6, seed=1))
    removal = linearization.train(ui.GradientFlow(0.1, 50.0)).leave_out(groups=[[0, 1], [5]])
    assert removal.functional_information(linearization.validation).shape == (2,)


def test_the_paths_tell_how_each_parameter_was_differentiated() -> None:
    assert dict(ui.linearize(network(), data()).paths) == {
        "0.weight": "linear",
        "0.bias": "linear",
        "2.weight": "linear",
        "2.bias": "linear",
    }


def test_a_wide_network_really_trained_agrees_with_its_linearization() -> None:
    """The truth itself: train with and without a sample, and look at the validation outputs."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4096), nn.ReLU(), nn.Linear(4096, 1)).double()
    (X, y), (X_val, _) = data(20, classes=2), data(30, seed=1)
    lr, steps = 0.002, 200
    scores = ui.score(model, (X, y), X_val, training=ui.GradientDescent(lr, steps), projection=None)

    def trained(without: int | None) -> Tensor:
        kept = torch.arange(20) != (-1 if without is None else without)
        copy = nn.Sequential(nn.Linear(4, 4096), nn.ReLU(), nn.Linear(4096, 1)).double()
        copy.load_state_dict(model.state_dict())
        optimizer = torch.optim.SGD(copy.parameters(), lr=lr)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (copy(X.double()[kept])[:, 0] - y[kept]).square().sum() / (2 * int(kept.sum()))
            loss.backward()
            optimizer.step()
        found: Tensor = copy(X_val.double()).detach()
        return found

    full = trained(None)
    truth = np.array([float((full - trained(i)).square().sum() / 60) for i in range(20)])
    assert scores.functional is not None
    assert np.corrcoef(truth, scores.functional)[0, 1] > 0.99
