from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.jacobian.rows import RowEngine

TRAINING = ui.GradientDescent(0.02, 50)


def network(seed: int) -> nn.Module:
    """A body that is always the same, with a last layer of its own."""
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(6, 40), nn.BatchNorm1d(40), nn.ReLU())
    torch.manual_seed(seed)
    return nn.Sequential(body, nn.Linear(40, 1)).double().eval()


@pytest.fixture
def data() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    X = torch.randn(30, 6, generator=generator, dtype=torch.float64)
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).long()


def test_scores_are_those_of_the_network_trained_from_zero(data: tuple[Tensor, Tensor]) -> None:
    model = network(3)
    scores = ui.score(ui.centred(model), data, data, training=TRAINING, projection=None)
    J, _ = RowEngine(model, data[0])(data[0])
    y = data[1].double()[:, None]  # what is left to learn where outputs begin at zero
    expected = ui.score_jacobian(J, y, J, y, training=TRAINING)
    np.testing.assert_allclose(scores.frame()["functional"], expected.frame()["functional"], rtol=1e-8)


def test_the_linearization_of_a_centred_network_agrees_with_training_it(data: tuple[Tensor, Tensor]) -> None:
    model = ui.centred(network(3))
    scores = ui.score(model, data, data, training=TRAINING, projection=None)
    found = retrain(model, data, data, training=TRAINING, groups=[[0], [7], [12], [20], [28]])
    assert found.outputs is not None
    assert found.outputs_without is not None
    assert scores.functional is not None
    real = np.square(found.outputs - found.outputs_without).sum(axis=(1, 2)) / (2 * len(data[0]))
    assert np.corrcoef(real, scores.functional[[0, 7, 12, 20, 28]])[0, 1] > 0.9


def test_draws_of_the_last_layer_matter_less(data: tuple[Tensor, Tensor]) -> None:
    def agreement(prepare: Callable[[nn.Module], nn.Module]) -> float:
        found = [ui.score(prepare(network(seed)), data, data, training=TRAINING).frame() for seed in range(1, 6)]
        return float(np.corrcoef([frame["functional"] for frame in found])[np.triu_indices(5, 1)].mean())

    assert agreement(ui.centred) > agreement(lambda model: model)


@pytest.mark.parametrize("training", [False, True])
def test_the_mode_of_the_network_is_kept(training: bool) -> None:
    model = network(0).train(training)
    assert ui.centred(model).training is model.training is training
