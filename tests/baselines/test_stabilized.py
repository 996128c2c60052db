"""Leaps along flow, held against its closed form."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from uniqueinfo.baselines.stabilized import LEAPS, Weights, begin, follow, leap

TIME, SHARPEST = 2.0, 1000.0
GOAL = 100.0


def rates() -> Tensor:
    """How fast each direction goes: stiff, over five decades."""
    return torch.from_numpy(np.geomspace(1e-2, SHARPEST, 200))


@pytest.fixture
def ones() -> Weights:
    return {"w": torch.ones(1, 200, dtype=torch.float64)}


def down(weights: Weights) -> Weights:
    return {"w": -rates() * weights["w"]}


def off(weights: Weights) -> float:
    """The farthest that any direction ends from where flow brings it, of its way."""
    gone = -torch.expm1(-rates() * TIME)
    return float(((1 - weights["w"] - gone) / gone).abs().max())


def product(weights: Weights) -> Weights:
    """Down ½(ab − goal)²: a network of two layers, whose curvature a² + b² grows on the way."""
    w = weights["w"]
    return {"w": (GOAL - w.prod(dim=1, keepdim=True)) * w.flip(1)}


def test_no_direction_of_a_stiff_flow_ends_far_from_where_flow_brings_it(ones: Weights) -> None:
    weights, strides = begin(ones, down, TIME, lambda w: SHARPEST)
    assert [stride.ends for stride in strides] == list(range(1, LEAPS + 1))
    assert sum(stride.stages for stride in strides) <= 231
    assert off(weights) < 0.006


def test_leaps_are_of_second_order() -> None:
    ends = []
    for count in (8, 16):
        weights = {"w": torch.ones(1, 1, dtype=torch.float64)}
        for _ in range(count):
            weights, _ = leap(weights, lambda w: {"w": -w["w"].square()}, 1 / count, 4)  # w(1) = 1/2
        ends.append(float(weights["w"]) - 0.5)
    assert 3.5 < ends[0] / ends[1] < 4.6


def test_where_the_curvature_grows_leaps_are_halved_and_end_where_flow_does() -> None:
    start, time = [0.1, 0.3], 0.5
    weights, strides = begin(
        {"w": torch.tensor([start], dtype=torch.float64)}, product, time, lambda w: float(w["w"].square().sum())
    )
    exact = solve_ivp(lambda t, w: (GOAL - w[0] * w[1]) * w[::-1], (0, time), start, rtol=1e-10, atol=1e-12).y[:, -1]
    assert len(strides) > LEAPS
    assert strides[-1].ends == LEAPS
    np.testing.assert_allclose(weights["w"].numpy()[0], exact, rtol=0.01)  # what is stiff shrinks to a third a leap


def test_strides_too_long_for_a_flow_are_halved(ones: Weights) -> None:
    def slower(weights: Weights) -> Weights:
        return {"w": -rates().clamp(max=SHARPEST / 4) * weights["w"]}

    _, strides = begin(ones, slower, TIME, lambda w: SHARPEST / 4)
    plain = ones
    for stride in strides:
        plain, _ = leap(plain, down, stride.length, stride.stages)
    assert off(plain) > 1e6
    assert off(follow(ones, down, strides)) < 0.006


def test_a_copy_that_is_stable_takes_the_strides_as_they_are(ones: Weights) -> None:
    there, strides = begin(ones, down, TIME, lambda w: SHARPEST)
    assert torch.equal(follow(ones, down, strides)["w"], there["w"])
