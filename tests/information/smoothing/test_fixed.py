"""Smoothings that do not depend on the training."""

from __future__ import annotations

from tests.information.smoothing.made import GROUPS, ridge, train
from tests.oracles.compare import close
from tests.problems import problem
from uniqueinfo import Fisher, Isotropic


def test_fisher_smoothing_is_functional_information() -> None:
    given = problem(20, 2, 12)
    run = train(given, ridge(given, "mean"))
    probe = run.linearization.probe(given.J_val)
    wanted = run.leave_out(GROUPS).functional_information(probe)
    for val in (probe, given.J_val):
        close(run.leave_out(GROUPS).weight_information(Fisher(val)), wanted, rtol=1e-12)


def test_isotropic_smoothing_divides_by_the_variance() -> None:
    given = problem(20, 2, 12)
    removal = train(given, ridge(given, "mean")).leave_out(GROUPS)
    close(removal.weight_information(Isotropic(0.5)), removal.weight_information() / 0.25, rtol=1e-12)
