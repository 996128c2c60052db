from functools import cache

import pytest
import torch
from torch import Tensor

from tests.jacobian.zoo import ZOO, build, cast
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.jacobian import RowEngine


def relative_error(found: Tensor, true: Tensor) -> float:
    return float((found - true).norm() / true.norm())


@cache
def true_rows(name: str) -> Tensor:
    """By jacrev in double precision; dear for the large networks, so once for both precisions."""
    return jacobian_rows(*build(name))


@pytest.mark.parametrize("name", ZOO)
def test_rows_equal_jacrev_in_double_precision(name: str) -> None:
    network, inputs = build(name)
    rows, _ = RowEngine(network, inputs)(inputs)
    assert relative_error(rows, true_rows(name)) < 1e-10


@pytest.mark.parametrize("name", ZOO)
def test_rows_equal_jacrev_in_single_precision(name: str) -> None:
    network, inputs = build(name)
    inputs = cast(inputs, torch.float32)
    rows, _ = RowEngine(network.float(), inputs)(inputs)
    assert rows.dtype == torch.float32
    assert relative_error(rows.double(), true_rows(name)) < 1e-4


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_weights_give_float32_rows(dtype: torch.dtype) -> None:
    network, inputs = build("cnn_1d", dtype)
    rows, outputs = RowEngine(network, inputs)(inputs)
    true = jacobian_rows(network.double(), inputs.double())
    assert rows.dtype == outputs.dtype == torch.float32
    assert relative_error(rows.double(), true) < 5e-2


def test_channels_last_and_strided_inputs_give_the_same_rows() -> None:
    network, inputs = build("cnn_grouped")
    rows, _ = RowEngine(network, inputs)(inputs)
    strided = torch.empty(*inputs.shape, 2, dtype=inputs.dtype)[..., 0].copy_(inputs)
    channels_last = inputs.to(memory_format=torch.channels_last)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    for inputs in (strided, channels_last):
        assert relative_error(RowEngine(network, inputs)(inputs)[0], rows) < 1e-12


def test_outputs_come_with_the_rows() -> None:
    network, inputs = build("bert")
    _, outputs = RowEngine(network, inputs)(inputs)
    torch.testing.assert_close(outputs, network(**inputs).logits.detach())


def test_rows_do_not_depend_on_the_other_samples_of_the_batch() -> None:
    network, inputs = build("encoder")
    engine = RowEngine(network, inputs)
    torch.testing.assert_close(engine(inputs)[0][1:2], engine(inputs[1:2])[0])


def test_another_sequence_length_than_the_example_works() -> None:
    network, inputs = build("lstm")
    engine = RowEngine(network, inputs[:, :4])
    assert relative_error(engine(inputs)[0], jacobian_rows(network, inputs)) < 1e-10


def test_frozen_parameters_are_left_out() -> None:
    network, inputs = build("paper_cnn")
    for name in ("0.weight", "0.bias", "2.weight"):
        network.get_parameter(name).requires_grad_(False)
    engine = RowEngine(network, inputs)
    assert "0.weight" not in engine.paths
    assert relative_error(engine(inputs)[0], jacobian_rows(network, inputs)) < 1e-10
