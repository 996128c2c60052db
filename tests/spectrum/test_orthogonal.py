"""What the leverage of every sample leaves below 1: found by bounds where they clear a sample, else exactly."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from uniqueinfo.spectrum.orthogonal import least_left_over, suited
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.training import Converged, ConvergedFilter


def primal(samples: int, outputs: int, width: int, loud: float = 1.0) -> Primal:
    """Rows whose columns have sizes of three decades, and one sample that is louder than the others."""
    rng = np.random.default_rng(0)
    given = rng.normal(size=(samples, outputs, width)) * np.logspace(0, -3, width)
    given[3] *= loud
    rows = Rows(given)
    return Primal.from_sums(Sums.over(rows, torch.zeros(samples, outputs, 1, dtype=torch.float64)), rows)


def brute(system: Primal, decay: float) -> float:
    """1 minus the largest eigenvalue of any J(JᵀJ + λ)⁻¹Jᵀ."""
    assert system.rows is not None
    rows = system.rows[:].numpy()
    flat = rows.reshape(-1, rows.shape[2])
    inverse = np.linalg.inv(flat.T @ flat + decay * np.eye(flat.shape[1]))
    return 1 - max(float(np.linalg.eigvalsh(each @ inverse @ each.T).max()) for each in rows)


@pytest.mark.parametrize("decay", [0.0, 1e-3])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("width", [8, 40])  # all eigenvalues are few, or more than that
def test_a_sample_that_decides_a_direction_is_found_exactly(outputs: int, width: int, decay: float) -> None:
    system = primal(200, outputs, width, loud=30.0)
    assert system.rows is not None
    wanted = brute(system, decay)
    assert wanted < 0.5
    assert least_left_over(system, system.rows, ConvergedFilter(decay)) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_where_no_sample_decides_anything_no_less_is_left_over_than_said(outputs: int) -> None:
    system = primal(2000, outputs, 40)
    assert system.rows is not None
    rounding = 1e-8  # smallest eigenvalues have lost as much, 1e-16 of the largest, which is 1e6 times as large
    assert 0.5 <= least_left_over(system, system.rows, ConvergedFilter(0.0)) <= brute(system, 0.0) + rounding


def test_what_all_outputs_lack_is_asked_for_only_where_rows_are_decomposed() -> None:
    def refused() -> torch.Tensor:
        raise AssertionError("nothing is decomposed here, so that no residual of all samples is needed")

    system = primal(2000, 1, 40)
    assert suited(system, Converged(1e-3), 2000, system.rows, refused)[0] is system
