import math

import pytest
import torch
from torch import nn

from tests.jacobian.zoo import build
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import OutputAverage, OutputSketch, RowEngine, exact_kernels


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


@pytest.mark.parametrize("name", ["tied", "paper_cnn", "norms", "lstm"])
@pytest.mark.parametrize("size", [1, 3, 20])
def test_outputs_that_are_alike_have_one_row_whose_products_are_averages(name: str, size: int) -> None:
    network, inputs = build(name)
    exact, outputs = RowEngine(network, inputs)(inputs)
    k, average = exact.shape[1], OutputAverage(size, seed=1)
    S = average.matrix(k).to(exact)
    expected = torch.einsum("aod,bpd,ol,pl->ab", exact, exact, S, S)
    rows, found = RowEngine(network, inputs, outputs=average)(inputs)
    assert rows.shape[:2] == (len(exact), 1)
    torch.testing.assert_close(rows[:, 0] @ rows[:, 0].T, expected)
    torch.testing.assert_close(found, outputs)
    kernels = exact_kernels(network, [inputs], [inputs], memory=1 << 30, outputs=average)
    torch.testing.assert_close(kernels.train, expected.double(), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(kernels.val, expected.double(), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(kernels.outputs, outputs)


def test_averages_over_mixtures_are_right_on_average() -> None:
    found = torch.stack([(S @ S.T) for S in (OutputAverage(2, seed).matrix(5) for seed in range(2000))])
    # An entry of the mean of 2,000 draws is off by less than .01: each is below 1/2 in size.
    torch.testing.assert_close(found.mean(dim=0), torch.eye(5, dtype=found.dtype) / 5, atol=0.02, rtol=0)


def test_an_average_over_no_mixtures_is_refused() -> None:
    with pytest.raises(InputError, match="size"):
        OutputAverage(0)
