import math
from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn

from tests.jacobian.zoo import build
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import Factorized, Projection, RandomCoordinates, RowEngine, VerySparse
from uniqueinfo.jacobian.gradients import Formed

KINDS: dict[str, Callable[[int], Projection]] = {
    "random_coordinates": lambda seed: RandomCoordinates(10, seed),
    "factorized": lambda seed: Factorized(10, seed),
    "very_sparse": lambda seed: VerySparse(60, seed),
}


def matrix(projection: Projection, shapes: Mapping[str, tuple[int, ...]]) -> Tensor:
    """The projection as a matrix (D, width), from what it does to every unit vector."""
    layout = projection.layout(shapes, torch.device("cpu"))
    width = max(columns.stop for columns in layout.values())
    blocks = []
    for name, shape in shapes.items():
        size = math.prod(shape)
        block = torch.zeros(size, width, dtype=torch.float64)
        units = torch.eye(size, dtype=torch.float64).view(size, *shape)
        block[:, layout[name].start : layout[name].stop] = layout[name].form(Formed(units))
        blocks.append(block)
    return torch.cat(blocks)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_is_right_on_average(kind: str) -> None:
    shapes = {"weight": (4, 3, 2), "bias": (4,)}
    products = torch.stack([(R := matrix(KINDS[kind](seed), shapes)) @ R.T for seed in range(500)])
    deviation = products.std(0) / math.sqrt(len(products))
    error = products.mean(0) - torch.eye(28, dtype=torch.float64)
    assert (error.abs() <= 5 * deviation + 1e-12).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["mlp", "cnn_1d", "cnn_grouped", "cnn_3d", "norms", "lstm", "encoder", "tied", "scaled"]
)
def test_projected_rows_are_the_exact_rows_times_a_matrix(name: str, kind: str) -> None:
    network, inputs = build(name)
    shapes = {name: tuple(p.shape) for name, p in network.named_parameters()}
    expected = RowEngine(network, inputs)(inputs)[0] @ matrix(KINDS[kind](3), shapes)
    rows, _ = RowEngine(network, inputs, KINDS[kind](3))(inputs)
    torch.testing.assert_close(rows, expected, rtol=1e-10, atol=1e-10 * float(expected.abs().max()))


@pytest.mark.parametrize("kind", KINDS)
def test_many_positions_and_few_give_the_same_projection(kind: str) -> None:
    # The cheapest way differs: gather or form, convolve sketches or sketch what was formed.
    network = nn.Sequential(nn.Conv2d(3, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 1)).double()
    for side in (3, 4, 20):
        inputs = torch.randn(5, 3, side, side, dtype=torch.float64)
        shapes = {name: tuple(p.shape) for name, p in network.named_parameters()}
        expected = RowEngine(network, inputs)(inputs)[0] @ matrix(KINDS[kind](3), shapes)
        torch.testing.assert_close(RowEngine(network, inputs, KINDS[kind](3))(inputs)[0], expected)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_depend_on_seed_and_name_alone(kind: str) -> None:
    network, inputs = build("paper_cnn")
    whole, _ = RowEngine(network, inputs, KINDS[kind](1))(inputs)
    alone, _ = RowEngine(network, inputs[2:], KINDS[kind](1))(inputs[2:])
    other, _ = RowEngine(network, inputs, KINDS[kind](2))(inputs)
    torch.testing.assert_close(whole[2:], alone)
    assert not torch.allclose(whole, other)


def test_small_parameters_are_kept_whole() -> None:
    network, inputs = build("mlp")
    exact, _ = RowEngine(network, inputs)(inputs)
    kept, _ = RowEngine(network, inputs, RandomCoordinates(320))(inputs)
    assert torch.equal(exact, kept)


def test_the_width_is_known_before_any_row() -> None:
    network, inputs = build("mlp")  # 16 × 20, 16, 3 × 16, 3
    assert RowEngine(network, inputs, RandomCoordinates(30)).width == 30 + 16 + 30 + 3
    assert RowEngine(network, inputs, VerySparse(50)).width == 50


@pytest.mark.parametrize("kind", [RandomCoordinates, Factorized, VerySparse])
def test_an_empty_projection_is_refused(kind: type[RandomCoordinates]) -> None:
    with pytest.raises(InputError, match="is 0: give a whole number of at least 1"):
        kind(0)
