"""The steps that the table of precisions is made of are those of the library."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.precision import agreement, lowest
from benchmarks.stages import Pipeline, Precision, Problem
from tests.problems import problem
from uniqueinfo import GradientFlow


def made(form: str) -> tuple[Problem, GradientFlow]:
    given = problem(20, 2, 30 if form == "dual" else 12, decades=3)
    J, J_val = torch.from_numpy(given.J), torch.from_numpy(given.J_val)
    residual = torch.from_numpy(given.residual)[..., None]
    training = GradientFlow(30 * given.samples / given.largest, 1.0)
    if form == "primal":
        return Problem("primal", residual, rows=J, rows_val=J_val, validation=len(J_val)), training
    kernel, kernel_val = (rows.flatten(0, 1) @ J.flatten(0, 1).T for rows in (J, J_val))
    return Problem("dual", residual, kernel=kernel, kernel_val=kernel_val, validation=len(J_val)), training


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_in_float64_throughout_they_give_the_librarys_scores(form: str) -> None:
    given, training = made(form)
    assert agreement(given, training, Pipeline(given, training, Precision()).run()) < 1e-9


@pytest.mark.parametrize("step", Precision.steps())
def test_each_step_in_float32_costs_digits(step: str) -> None:
    given, training = made("primal")
    whole = Pipeline(given, training, Precision()).run()
    single = ("products", "sums") if step == "sums" else (step,)
    found = Pipeline(given, training, Precision.single(*single)).run()
    gap = np.abs(found.functional / whole.functional - 1).max()
    assert 1e-9 < gap < 1e-2


def test_the_lowest_are_a_twentieth() -> None:
    given, training = made("dual")
    found = Pipeline(given, training, Precision()).run()
    assert lowest(found) == {int(found.functional.argmin())}
