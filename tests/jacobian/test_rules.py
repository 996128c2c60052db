from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.added import added
from tests.jacobian.zoo import ZOO, build, cast
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.jacobian import RowEngine
from uniqueinfo.jacobian.rules import find_rule, rules


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


NEW = '''
    """A slope of its own for what is below zero."""

    from torch import nn

    from uniqueinfo.jacobian.gradients import Formed
    from uniqueinfo.jacobian.rules.rule import Rule


    def gradient(layer, x, g, parameter):
        return Formed((g * x.clamp(max=0)).sum(1, keepdim=True))


    RULES = (Rule("new", ({layers}), gradient),)
'''


@pytest.fixture
def _rules_anew() -> Iterator[None]:
    """They are looked up once for all, so before and after a test that adds one."""
    rules.cache_clear()
    yield
    rules.cache_clear()


@pytest.mark.usefixtures("_rules_anew")
def test_one_new_file_is_a_new_rule(tmp_path: Path) -> None:
    network, inputs = nn.Sequential(nn.Linear(3, 4), nn.PReLU(), nn.Linear(4, 2)).double(), torch.randn(5, 3).double()
    with added("uniqueinfo.jacobian.rules", tmp_path, NEW.format(layers="nn.PReLU,")):
        engine = RowEngine(network, inputs)
        assert engine.paths["1.weight"] == "new"
        assert relative_error(engine(inputs)[0], jacobian_rows(network, inputs)) < 1e-10


@pytest.mark.usefixtures("_rules_anew")
def test_two_rules_for_one_layer_are_a_mistake_of_ours(tmp_path: Path) -> None:
    with (
        added("uniqueinfo.jacobian.rules", tmp_path, NEW.format(layers="nn.Linear,")),
        pytest.raises(TypeError, match="Linear: two rules"),
    ):
        rules()


def test_a_layer_has_the_rule_of_its_forward_pass() -> None:
    class Own(nn.Linear):
        """A layer whose forward pass is inherited."""

    class Other(nn.Linear):
        def forward(self, input: Tensor) -> Tensor:  # noqa: A002, torch's own name
            return 2 * super().forward(input)

    found = [find_rule(layer) for layer in (Own(2, 1), Other(2, 1), nn.BatchNorm1d(2), nn.Embedding(3, 2, max_norm=1))]
    assert [rule and rule.kind for rule in found] == ["linear", None, "norm", None]
