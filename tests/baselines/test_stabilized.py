"""Leaps along flow, held against its closed form."""

from __future__ import annotations

import numpy as np
import torch

from uniqueinfo.baselines.stabilized import LEAPS, Weights, leap, reached, stages

TIME, SHARPEST, MARGIN = 2.0, 1000.0, 1.2
RATES = torch.from_numpy(np.geomspace(1e-2, SHARPEST, 200))


def down(weights: Weights) -> Weights:
    return {"w": -RATES * weights["w"]}


def test_no_direction_of_a_stiff_flow_ends_far_from_where_flow_brings_it() -> None:
    weights, gradients = {"w": torch.ones(200, dtype=torch.float64)}, 0
    for number in range(1, LEAPS + 1):
        length = TIME * (reached(number) - reached(number - 1))
        count = stages(MARGIN * length * SHARPEST)
        weights, gradients = leap(weights, down, length, count), gradients + count
    gone = -torch.expm1(-RATES * TIME)
    off = ((1 - weights["w"] - gone) / gone).abs().max()
    assert gradients <= 220
    assert off < 0.006


def test_leaps_are_of_second_order() -> None:
    ends = []
    for count in (8, 16):
        weights = {"w": torch.ones((), dtype=torch.float64)}
        for _ in range(count):
            weights = leap(weights, lambda w: {"w": -w["w"].square()}, 1 / count, 4)  # w(1) = 1/2
        ends.append(float(weights["w"]) - 0.5)
    assert 3.5 < ends[0] / ends[1] < 4.6
