import math

import pytest
import torch
from torch import nn

from tests.jacobian.zoo import build
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import OutputSketch, RowEngine


def test_rows_and_outputs_are_those_of_the_mixtures() -> None:
    network, inputs = build("tied")
    S = OutputSketch(4, seed=2).matrix(10)
    exact, outputs = RowEngine(network, inputs)(inputs)
    rows, mixed = RowEngine(network, inputs, outputs=OutputSketch(4, seed=2))(inputs)
    torch.testing.assert_close(rows, torch.einsum("ok,bod->bkd", S, exact))
    torch.testing.assert_close(mixed, outputs @ S)


def test_mixtures_keep_squared_outputs_on_average_and_within_the_stated_error() -> None:
    sketches = [OutputSketch(10, seed) for seed in range(1000)]
    values = torch.stack([s.factor(100) * s.matrix(100)[0].square().sum() for s in sketches])
    stated = math.sqrt(2 * (1 / 10 - 1 / 100))
    assert abs(float(values.mean()) - 1) < 5 * stated / math.sqrt(len(sketches))
    assert float(values.std()) < 1.1 * stated


def test_mixtures_are_orthonormal() -> None:
    S = OutputSketch(4, seed=2).matrix(10)
    torch.testing.assert_close(S.T @ S, torch.eye(4, dtype=S.dtype))


def test_a_thousand_outputs_come_down_to_a_few() -> None:
    network = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1000))
    inputs, S = torch.randn(3, 5), OutputSketch(20).matrix(1000).float()
    rows, outputs = RowEngine(network, torch.randn(2, 5), outputs=OutputSketch(20))(inputs)
    assert rows.shape == (3, 20, 5 * 8 + 8 + 8 * 1000 + 1000)
    torch.testing.assert_close(outputs, network(inputs).detach() @ S)
    for row in rows:  # the last bias moves each output by one, and so each mixture by its weight in it
        torch.testing.assert_close(row[:, -1000:], S.T)


@pytest.mark.parametrize("size", [0, 11])
def test_a_sketch_larger_than_the_outputs_is_refused(size: int) -> None:
    network, inputs = build("tied")
    with pytest.raises(InputError, match=f"a sketch of {size} outputs of a network with 10"):
        RowEngine(network, inputs, outputs=OutputSketch(size))
