"""Divergences in which every removal has a covariance of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.information.smoothing.made import FORMS, GROUPS, REDUCTIONS, deltas, ridge, train
from tests.oracles import steadystate
from tests.oracles.compare import close
from tests.problems import problem
from uniqueinfo import SGD, Converged, InputError, Langevin
from uniqueinfo.training import Reduction
from uniqueinfo.types import Floats


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_the_exact_divergence_gives_each_removal_its_own_covariance(reduction: Reduction) -> None:
    given = problem(60, 1, 8)
    training = ridge(given, reduction)

    def covariance(without: list[int]) -> Floats:
        return steadystate.covariance(given.J, given.residual, training, training.weight_decay, 0.1 / 5, without)

    delta = deltas(given, training, GROUPS)
    wanted = [
        steadystate.divergence(moved, covariance([]), covariance(group))
        for moved, group in zip(delta, GROUPS, strict=True)
    ]
    for form in FORMS:
        found = train(given, training, form).leave_out(GROUPS).weight_information(SGD(0.1, 5), exact=True)
        close(found, wanted, rtol=1e-6)


def test_the_exact_divergence_of_langevin_dynamics_follows_the_hessian() -> None:
    given = problem(60, 1, 8)
    training = ridge(given, "mean")

    def covariance(without: list[int]) -> Floats:
        kept = np.setdiff1d(np.arange(60), without)
        H = steadystate.hessian(given.J[kept], training, training.weight_decay)
        return np.linalg.inv(H) * 0.1 * 0.7**2 / (2 * 5)

    delta = deltas(given, training, GROUPS)
    wanted = [
        steadystate.divergence(moved, covariance([]), covariance(group))
        for moved, group in zip(delta, GROUPS, strict=True)
    ]
    close(
        train(given, training).leave_out(GROUPS).weight_information(Langevin(0.1, 5, 0.7), exact=True),
        wanted,
        rtol=1e-8,
    )


def test_exact_langevin_without_decay_needs_every_direction_twice() -> None:
    given = problem(40, 1, 6)
    given.J[1:, :, 5] = 0
    with pytest.raises(InputError, match="alone held"):
        train(given, Converged()).leave_out().weight_information(Langevin(0.1, 5), exact=True)


def test_exact_divergences_of_large_problems_are_refused_before_they_start() -> None:
    given = problem(200, 1, 900)
    removal = train(given, Converged(0.1)).leave_out([[i] for i in range(200)] * 70)
    with pytest.raises(InputError, match="exact=True: 14,000 removals of 200 coordinates"):
        removal.weight_information(SGD(0.1, 5), exact=True)
