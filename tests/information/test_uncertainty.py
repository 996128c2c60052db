"""The errors of sketched scores, estimated and real."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import uniqueinfo as ui
from tests import realdata
from tests.problems import problem
from tests.spectrum.sketches import measures, off, sketched, typically_off, within_reach
from uniqueinfo import Converged, Linearization
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.information.measures import Measures
from uniqueinfo.information.uncertainty import Uncertainty, factor
from uniqueinfo.jacobian import Factorized, RowEngine
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.types import Floats


def errors(run: Trained, found: Measures, probe: Probe) -> dict[str, Floats]:
    """Of every sample's measures."""
    estimated = Uncertainty.of(run, probe)
    assert estimated is not None
    assert isinstance(run.system, Sketched)
    return estimated.errors(found, run.system.outside)


def test_more_directions_make_smaller_errors_and_smaller_estimates() -> None:
    given = problem(150, 1, 120, decades=4, m=40)
    training = within_reach(sketched(given, 16)[1])
    wanted = measures(Linearization.from_jacobian(given.J, given.residual), given, training)
    true, estimated = [], []
    for directions in (16, 40, 80):
        linearization = sketched(given, directions)[0]
        run, probe = linearization.train(training), linearization.probe(given.J_val, given.residual_val)
        found = run.leave_out().measures(probe)
        estimate = errors(run, found, probe)
        true.append(float(np.median(off(found.functional, wanted.functional))))
        estimated.append(float(np.median(estimate["functional"])))
    assert true[0] > 3 * true[1] > 9 * true[2]
    assert estimated[0] > 3 * estimated[1] > 9 * estimated[2]


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("name", ["functional", "weight", "value", "loo_outputs"])
def test_the_estimates_cover_the_errors(name: str, outputs: int) -> None:
    """They promise 95 % on average over draws of the samples followed; a single draw may fall short, or be loose."""
    given = problem(200, outputs, 150, decades=4, m=40)
    exact = Linearization.from_jacobian(given.J, given.residual)
    covered, loose = [], []
    for seed in range(5):
        linearization, system = sketched(given, 40, seed)
        training = within_reach(system)
        probe = linearization.probe(given.J_val, given.residual_val)
        run = linearization.train(training)
        found, wanted = run.leave_out().measures(probe), measures(exact, given, training)
        estimate = errors(run, found, probe)[name]
        true = (
            np.linalg.norm(found.own[1] - wanted.own[1], axis=(1, 2))
            if name == "loo_outputs"
            else off(getattr(found, name), getattr(wanted, name))
        )
        covered.append(np.mean(true <= estimate))
        loose.append(np.median(estimate) / np.median(true))
    assert np.mean(covered) > 0.9
    assert np.median(loose) < 10


def test_the_factor_covers_a_new_error_in_95_of_100_draws() -> None:
    rng = np.random.default_rng(0)
    draws = np.exp(rng.normal(size=(4000, 41)))
    covered = [draw[-1] <= factor(draw[:-1], np.ones(40)) for draw in draws]
    assert 0.94 < np.mean(covered) < 0.965  # 39/41 with a standard deviation of 0.0034


def test_saved_scores_keep_their_errors(tmp_path: Path) -> None:
    given = problem(60, 1, 50, decades=3)
    training = within_reach(sketched(given, 20)[1])
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, given.residual_val, sketch=20, training=training)
    back = ui.load(scores.save(tmp_path))
    assert {"functional_error", "weight_error", "value_error", "loo_outputs_error"} <= set(scores.frame().columns)
    assert back.errors is not None
    assert scores.errors is not None
    assert back.frame().equals(scores.frame())


def test_without_a_sketch_there_are_no_errors() -> None:
    given = problem(10, 1, 5)
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=Converged(0.1))
    assert scores.errors is None
    assert not [name for name in scores.frame().columns if name.endswith("_error")]


@pytest.mark.slow
def test_the_estimates_cover_the_errors_on_mnist() -> None:
    arrays = realdata.arrays("mnist_4v9.npz")
    images = torch.from_numpy(arrays["x_train"][:500]).float()[:, None] / 255
    val = torch.from_numpy(arrays["x_val"][:200]).float()[:, None] / 255
    torch.manual_seed(0)
    engine = RowEngine(mlp().eval(), images[:2], Factorized(2500))
    (J, start), (J_val, _) = (engine(part) for part in (images, val))
    residual = (torch.from_numpy(arrays["y_train"][:500] == 9).double()[:, None] - start).detach().numpy()
    exact = ui.score_jacobian(J, residual, J_val)
    horizon = ui.GradientDescent(exact.settings["training"]["lr"], exact.settings["training"]["steps"])
    before = float("inf")
    for directions in (200, 300):
        scores = ui.score_jacobian(J, residual, J_val, training=horizon, sketch=directions)
        assert scores.errors is not None
        true = off(scores.functional, exact.functional)
        assert np.mean(true <= scores.errors["functional"]) > 0.85
        now = typically_off(scores.functional, exact.functional)
        assert now < min(0.2, before)
        before = now
