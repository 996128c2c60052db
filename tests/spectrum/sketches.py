"""Sketched problems, and how far their scores are off."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.problems import Problem
from uniqueinfo import GradientFlow, Linearization
from uniqueinfo.information.measures import Measures
from uniqueinfo.spectrum.choice import choose
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training import Training
from uniqueinfo.types import Floats


def sketched(given: Problem, directions: int, seed: int = 0) -> tuple[Linearization, Sketched]:
    rows, residual = Rows(given.J), torch.from_numpy(given.residual)[..., None]
    system = Sketched.of(rows, residual, directions, seed)
    choice = choose(rows.samples * rows.per_sample, rows.width, sketch=directions)
    return Linearization(rows, residual, torch.zeros_like(residual), choice, known=system), system


def measures(linearization: Linearization, given: Problem, training: Training) -> Measures:
    probe = linearization.probe(given.J_val, given.residual_val)
    return linearization.train(training).leave_out().measures(probe)


def within_reach(system: Sketched, length: float = 0.7) -> GradientFlow:
    """As long as this share of the time at which the directions left out are learnt."""
    return GradientFlow(length / system.tail, 1.0, reduction="sum")


def off(found: Any, wanted: Any) -> Floats:
    assert found is not None
    assert wanted is not None
    gap: Floats = np.abs(found - wanted)
    return gap


def typically_off(found: Any, wanted: Any) -> float:
    """The median error, each relative to itself."""
    return float(np.median(off(found, wanted) / wanted))
