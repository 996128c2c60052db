"""What is kept of a network for an effort: by counted operations, the same on every machine."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import uniqueinfo as ui
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.counting import Counted, Weights, count
from uniqueinfo.linearization.effort import RATE, Kept, Means, Size, choose_kept, seconds_of

ENTROPY = ui.Auto(loss="cross-entropy")


def sized(samples: int, others: int = 0, outputs: int = 1, parameters: int = 10_000) -> Size:
    return Size(samples, others, outputs, Counted((Weights(parameters),)))


def cheap() -> Size:
    return sized(100, 50)


@pytest.mark.parametrize(
    ("effort", "seconds"),
    [("seconds", 10.0), ("minutes", 100.0), ("exact", float("inf")), ("2min", 120.0), ("30s", 30.0), ("1h", 3600.0)],
)
def test_an_effort_is_a_name_or_a_time(effort: str, seconds: float) -> None:
    assert seconds_of(effort) == seconds


@pytest.mark.parametrize("effort", ["", "days", "0s", "-1s", None, 3j, "minute s"])
def test_other_efforts_are_refused_with_those_there_are(effort: Any) -> None:
    with pytest.raises(InputError, match='effort: expected "seconds", "minutes", "exact" or a time like "2min"'):
        seconds_of(effort)
    with pytest.raises(InputError, match="effort"):
        ui.score_features(torch.eye(3), [0, 1, 1], effort=effort)


def test_what_is_cheap_keeps_everything() -> None:
    assert choose_kept("auto", cheap(), Means()) == Kept(None, "exact: kernels of 100 rows and 10,000 parameters", True)


def test_more_effort_never_keeps_less() -> None:
    for size in (sized(3_000, 500, 10, 200_000), sized(50_000, 1_000, 1, 10**6), sized(20_000, 100, 100, 10**6)):
        kept = [choose_kept("auto", size, Means(effort=f"{2**power}s", alike=True)) for power in range(20)]
        order = [_amount(each) for each in kept]
        assert order == sorted(order)
        assert len(set(order)) > 2


def _amount(kept: Kept) -> tuple[int, int, int]:
    """Everything, or all weights with outputs alike, or some weights; mixtures; weights."""
    average = kept.outputs.size if isinstance(kept.outputs, ui.OutputAverage) else 10**9
    weights = kept.projection.total if isinstance(kept.projection, ui.KernelCoordinates) else 10**9
    return int(kept.projection is None), weights, average


def test_many_classes_are_taken_to_be_alike_before_weights_are_left_out() -> None:
    size = sized(1_500, 500, 10, 20_000)
    found = choose_kept("auto", size, Means(alike=True))
    assert (found.projection, found.by_kernels, found.outputs, found.less) == (None, True, ui.OutputAverage(10), True)
    assert "one row for each sample: exact kernels would take about" in found.why
    assert 'more than effort="minutes" allows' in found.why
    alone = choose_kept("auto", size, Means())
    assert isinstance(alone.projection, ui.KernelCoordinates)
    assert alone.outputs is None


def test_all_is_kept_where_exact_is_asked_for() -> None:
    for size in (sized(10**5, 10**5, 10, 10**9), sized(100, 0, 3, 20)):
        found = choose_kept("auto", size, Means(effort="exact", alike=True))
        assert (found.projection, found.outputs, found.less) == (None, None, False)


def test_where_passes_alone_take_too_long_weights_that_cost_hardly_more_are_kept() -> None:
    convolution = Weights(10**7, columns=10**3, count=10**3, factors=True)
    found = choose_kept("auto", Size(5_000, 500, 10, Counted((convolution,))), Means(alike=True))
    assert isinstance(found.projection, ui.KernelCoordinates)
    assert found.projection.total > 10_000
    assert found.outputs == ui.OutputAverage(1)


@pytest.mark.parametrize("effort", ["seconds", "exact"])
def test_a_projection_that_is_asked_for_wins(effort: str) -> None:
    asked = ui.RandomCoordinates(7)
    assert choose_kept(asked, cheap(), Means(effort=effort)) == Kept(asked, "asked for")
    dear = sized(10**6, 10**6, 1, 10**9)
    assert choose_kept(None, dear, Means(effort=effort)) == Kept(None, "asked for", by_kernels=True)


def test_kernels_that_do_not_fit_in_memory_are_left() -> None:
    by_rows = choose_kept("auto", cheap(), Means(memory="300MB"))
    assert by_rows == Kept(None, "exact: all 10,000 parameters")
    less = choose_kept("auto", sized(300, 0, 1, 10**6), Means(memory="300MB"))
    assert isinstance(less.projection, ui.KernelCoordinates)
    assert "exact kernels take 538 MB of the 300 MB allowed" in less.why


@pytest.mark.parametrize("free", [10**6, 10**15])
def test_the_choice_does_not_hang_on_what_happens_to_be_free(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [cheap(), sized(3_000, 50_000), sized(3_000, 250_000)]
    monkeypatch.setattr("uniqueinfo.memory.available", lambda: free)
    assert [choose_kept("auto", size, Means(effort="1h")).projection is None for size in sizes] == [True, True, False]


@pytest.mark.parametrize("asked", ["auto", None])
def test_more_rows_than_parameters_need_no_kernels(asked: None) -> None:
    assert not choose_kept(asked, sized(100, parameters=20), Means()).by_kernels


@pytest.mark.parametrize("means", [Means(form="primal"), Means(sketch=20)], ids=str)
def test_rows_are_wanted_where_the_form_needs_them(means: Means) -> None:
    assert not choose_kept("auto", cheap(), means).by_kernels


def test_another_loss_costs_a_decomposition_for_every_stretch() -> None:
    size = sized(300, 100, 10, 200_000)
    squared, entropy = (choose_kept("auto", size, Means(training=each)) for each in (ui.Auto(), ENTROPY))
    assert squared.projection is None
    assert isinstance(entropy.projection, ui.KernelCoordinates)
    assert entropy.projection.total < 3_000


def test_operations_are_counted_by_layer() -> None:
    network = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 5)).eval()
    weight, bias, head, last = count(network, torch.zeros(2, 2, 4, 4)).weights
    assert weight == Weights(size=54, columns=18, count=4, factors=True)
    assert (bias.size, last.size) == (3, 5)
    assert head == Weights(size=60, columns=12, count=1, factors=True)


@pytest.mark.parametrize("alike", [False, True])
def test_products_of_a_weight_are_those_of_the_cheaper_form(alike: bool) -> None:
    dense = Weights(size=1000 * 1000, columns=1000, count=1, factors=True)
    often = Weights(size=32 * 16, columns=16, count=196, factors=True)
    pairs = 10 if alike else 100
    assert dense.products(10, alike=alike) < 0.01 * 2 * pairs * dense.size
    assert often.products(10, alike=alike) == 2 * pairs * often.size


def test_the_rate_is_a_fixed_one() -> None:
    assert RATE == 4e10  # choices of earlier runs hang on it
