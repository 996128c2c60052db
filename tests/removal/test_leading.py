"""Leading directions of a kernel and one curvature for the others, against training again in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

import uniqueinfo as ui
from uniqueinfo.errors import InputError
from uniqueinfo.removal.leading import Leading
from uniqueinfo.training import Training
from uniqueinfo.types import Floats

TRAININGS = [
    ui.Converged(0.3),
    ui.Converged(0.3, reduction="sum"),
    ui.GradientFlow(0.2, 60.0),
    ui.GradientFlow(0.2, 60.0, weight_decay=0.05),
    ui.GradientDescent(0.05, 40, momentum=0.5),
    ui.GradientDescent(0.002, 40, reduction="sum"),
]


@dataclass(frozen=True, eq=False)
class Made:
    """Rows of samples and of validation samples, and residuals, (n, per_sample, columns)."""

    rows: Tensor
    others: Tensor
    residual: Tensor

    def along(self, directions: int) -> Leading:
        J, V = self.rows.flatten(0, 1), self.others.flatten(0, 1)
        seen = V @ J.T
        kernel = J @ J.T
        first = torch.linalg.eigh(kernel)[1][:, -directions:]
        return Leading.of(kernel, seen.T @ seen / len(self.others), self.residual, first)


def made(per_sample: int, columns: int, samples: int = 60, width: int = 30) -> Made:
    """More samples than columns: none has a direction nearly to itself, so that H without it is a curvature still."""
    rng = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    sizes = torch.logspace(0, -2, width, dtype=torch.float64)
    turned = torch.linalg.qr(draw(width, width))[0]
    rows, others = (draw(count, per_sample, width) * sizes @ turned for count in (samples, 15))
    return Made(rows, others, draw(samples, per_sample, columns))


def again(problem: Made, leading: Leading, training: Training) -> Floats:
    """F-SI by training with everyone, and again without each, where H is Z's own and one curvature for the rest."""
    J, r = problem.rows.flatten(0, 1), problem.residual.flatten(0, 1)
    Z = J.T @ leading.vectors / leading.values.sqrt()  # orthonormal directions in weights
    outside = torch.eye(J.shape[1], dtype=J.dtype) - Z @ Z.T
    H = Z @ torch.diag(leading.values) @ Z.T + leading._tail * outside

    def trained(curvature: Tensor, pull: Tensor, samples: int) -> Tensor:
        values, basis = torch.linalg.eigh((curvature + curvature.T) / 2)
        reached = torch.from_numpy(training.filter(samples)(values.numpy()))
        found: Tensor = basis @ (reached[:, None] * (basis.T @ pull))
        return found

    samples, whole = len(problem.rows), J.T @ r
    everyone = trained(H, whole, samples)
    found = []
    for own, residual in zip(problem.rows, problem.residual, strict=True):
        without = trained(H - own.T @ own, whole - own.T @ residual, samples - 1)
        found.append(float((problem.others @ (everyone - without)).square().sum()) / (2 * len(problem.others)))
    return np.array(found)


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.words())
@pytest.mark.parametrize(("per_sample", "columns"), [(1, 1), (1, 3), (2, 1)])
def test_information_is_that_of_training_again(training: Training, per_sample: int, columns: int) -> None:
    problem = made(per_sample, columns)
    leading = problem.along(8)
    # Poles are fitted to 1e-8 of φ, of which a change is a twentieth.
    np.testing.assert_allclose(leading.information(training), again(problem, leading, training), rtol=1e-5)


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.words())
def test_with_every_direction_it_is_exact(training: Training) -> None:
    problem = made(2, 1)
    exact = ui.score_jacobian(problem.rows, problem.residual[..., 0], problem.others, training=training)
    assert exact.functional is not None
    np.testing.assert_allclose(problem.along(30).information(training), exact.functional, rtol=1e-5)


def test_one_step_brings_directions_closer_to_those_of_a_rest() -> None:
    problem, kept = made(1, 1), np.setdiff1d(np.arange(60), [3, 7, 20])
    before = problem.along(10)
    own = Made(problem.rows[kept], problem.others, problem.residual[kept]).along(10).vectors

    def off(span: Tensor) -> float:
        return float((own - span @ (torch.linalg.pinv(span) @ own)).norm())

    assert off(before.rest(kept).vectors) < off(before.vectors[kept])


def test_fewer_rows_than_directions_are_all_of_them() -> None:
    problem = made(1, 1)
    rest = problem.along(20).rest(np.arange(6))
    exact = ui.score_jacobian(
        problem.rows[:6], problem.residual[:6, :, 0], problem.others, training=ui.Converged(0.3)
    ).functional
    assert exact is not None
    np.testing.assert_allclose(rest.information(ui.Converged(0.3)), exact, rtol=1e-5)


def test_a_rate_at_which_the_rest_diverges_is_refused() -> None:
    problem = made(1, 1)
    with pytest.raises(InputError, match="diverges on 59 samples"):
        problem.along(8).information(ui.GradientDescent(500.0, 40))
