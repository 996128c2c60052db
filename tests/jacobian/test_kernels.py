from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.jacobian.zoo import build
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import OutputSketch, RowEngine, exact_kernels
from uniqueinfo.jacobian.kernels import _parts
from uniqueinfo.jacobian.network import Network
from uniqueinfo.jacobian.pieces import WORKSPACE

BASE = 3 * 8 * WORKSPACE


def batches(inputs: Any) -> list[Any]:
    """A batch of two and what remains, then the same samples turned round for validation."""
    if isinstance(inputs, dict):
        parts = zip(*(value.split(2) for value in inputs.values()), strict=True)
        return [dict(zip(inputs, part, strict=True)) for part in parts]
    if isinstance(inputs, tuple):
        return list(zip(*(value.split(2) for value in inputs), strict=True))
    return list(inputs.split(2))


def rows(network: nn.Module, parts: list[Any]) -> Tensor:
    return torch.cat([jacobian_rows(network, part) for part in parts]).flatten(0, 1)


@pytest.mark.parametrize(
    "name",
    ["mlp", "paper_cnn", "cnn_grouped", "norms", "lstm", "encoder", "bert", "tied", "scaled", "two_inputs"],
)
def test_kernels_equal_those_of_the_jacobian(name: str) -> None:
    network, inputs = build(name)
    train = batches(inputs)
    val = train[::-1]
    kernels = exact_kernels(network, train, val, memory=1 << 30)
    J, J_val = rows(network, train), rows(network, val)
    torch.testing.assert_close(kernels.train, J @ J.T, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(kernels.val, J_val @ J.T, rtol=1e-10, atol=1e-12)


def test_outputs_come_with_the_kernels() -> None:
    network, inputs = build("mlp")
    kernels = exact_kernels(network, [inputs[:2]], [inputs[2:]], memory=1 << 30)
    torch.testing.assert_close(kernels.outputs, network(inputs[:2]).detach())
    torch.testing.assert_close(kernels.outputs_val, network(inputs[2:]).detach())


def test_a_small_budget_gives_the_same_in_more_passes() -> None:
    network, inputs = build("paper_cnn")
    passes: list[int] = []
    network.register_forward_pre_hook(lambda module, args: passes.append(len(args[0])))
    whole = exact_kernels(network, [inputs], memory=BASE + (1 << 26))
    few = passes.count(3)
    tight = exact_kernels(network, [inputs], memory=BASE + (1 << 20))
    assert passes.count(3) - few > few
    torch.testing.assert_close(whole.train, tight.train, rtol=1e-12, atol=1e-12)


def test_a_budget_below_one_row_is_refused_with_what_is_needed() -> None:
    network, inputs = build("mlp")
    with pytest.raises(InputError, match=r"need 0\.09 GiB.*0\.06 GiB were given"):
        exact_kernels(network, [inputs], memory=1 << 26)


def test_single_precision_is_summed_in_double() -> None:
    network, inputs = build("paper_cnn", torch.float32)
    kernel = exact_kernels(network, [inputs], memory=1 << 30).train
    J = RowEngine(network, inputs)(inputs)[0].flatten(0, 1).double()
    assert kernel.dtype == torch.float64
    torch.testing.assert_close(kernel, J @ J.T, rtol=1e-6, atol=1e-9)


def test_sequences_of_different_lengths_go_together() -> None:
    network = nn.Sequential(nn.Linear(30, 40), nn.Tanh(), nn.AdaptiveAvgPool2d((1, 40)), nn.Flatten(), nn.Linear(40, 2))
    network = network.double()
    train = [torch.randn(2, length, 30, dtype=torch.float64) for length in (2, 3)]
    (first, *_) = _parts(Network(network, train[0]), train[0], samples=4, room=1 << 30)
    assert first.by_factors
    J = rows(network, train)
    torch.testing.assert_close(exact_kernels(network, train, memory=1 << 30).train, J @ J.T)


def test_an_output_sketch_gives_the_kernel_of_the_mixtures() -> None:
    network, inputs = build("tied")
    sketch = OutputSketch(3)
    mixed = RowEngine(network, inputs, outputs=sketch)(inputs)[0].flatten(0, 1)
    kernel = exact_kernels(network, [inputs], memory=1 << 30, outputs=sketch).train
    torch.testing.assert_close(kernel, mixed @ mixed.T)


@pytest.mark.parametrize(("train", "reason"), [(list, "are empty"), (lambda: iter([torch.zeros(2, 20)]), "only once")])
def test_batches_that_give_nothing_are_refused(train: Callable[[], Any], reason: str) -> None:
    network, _ = build("mlp", torch.float32)
    with pytest.raises(InputError, match=reason):
        exact_kernels(network, train(), memory=1 << 30)


def test_samples_whose_number_is_known_are_read_once() -> None:
    network, inputs = build("mlp")
    read: list[int] = []

    class Batches:
        def __iter__(self) -> Iterator[Any]:
            for number, batch in enumerate(batches(inputs)):
                read.append(number)
                yield batch

    counted = exact_kernels(network, Batches(), memory=1 << 30).train
    first = len(read)
    known = exact_kernels(network, Batches(), memory=1 << 30, counts=(len(inputs), 0)).train
    torch.testing.assert_close(known, counted, rtol=0, atol=0)
    assert len(read) - first == len(batches(inputs)) + 1  # and one to see what they are like
