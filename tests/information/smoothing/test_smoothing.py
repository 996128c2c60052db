"""What every smoothing must obey, and how scores carry it."""

from __future__ import annotations

import numpy as np
import pytest

import uniqueinfo as ui
from tests.information.smoothing.made import FORMS, GROUPS, SMOOTHINGS, head, ridge, train
from tests.oracles.compare import close
from tests.problems import Problem, problem
from uniqueinfo import SGD, Converged, Fisher, GradientFlow, InputError, Isotropic, Langevin, Linearization
from uniqueinfo.information.smoothing import Smoothing, gradient_covariance
from uniqueinfo.spectrum.choice import Form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("smoothing", SMOOTHINGS[:3])  # equal eigenvalues leave open what is diagonal
def test_a_linear_head_equals_its_written_out_jacobian(smoothing: Smoothing, form: Form) -> None:
    X, Y, written = head()
    training = Converged(0.1)
    run = Linearization.from_features(X, Y, form=form).train(training)
    other = train(written, training)
    for exact in (False, True):
        found = run.leave_out(GROUPS).weight_information(smoothing, exact=exact)
        close(found, other.leave_out(GROUPS).weight_information(smoothing, exact=exact), rtol=1e-8)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_an_orthogonal_change_of_the_weights_changes_nothing(smoothing: Smoothing) -> None:
    given = problem(30, 2, 12)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    turned = Problem(given.J @ turn, given.residual, given.J_val @ turn, given.residual_val)
    for training in (ridge(given, "mean"), GradientFlow(1.0, 3.0)):
        wanted = train(given, training).leave_out(GROUPS).weight_information(smoothing)
        close(train(turned, training).leave_out(GROUPS).weight_information(smoothing), wanted, rtol=1e-7)


def test_a_kernel_alone_is_enough() -> None:
    given = problem(10, 2, 50)
    flat = given.J.reshape(20, 50)
    alone = Linearization.from_kernel(flat @ flat.T, given.residual).train(Converged(0.1))
    for smoothing in SMOOTHINGS:
        wanted = train(given, Converged(0.1)).leave_out().weight_information(smoothing)
        close(alone.leave_out().weight_information(smoothing), wanted, rtol=1e-6)
    with pytest.raises(InputError, match="a kernel has no weights"):
        gradient_covariance(alone)


def test_scores_carry_the_smoothing_and_how_far_to_trust_it(tmp_path: object) -> None:
    given = problem(20, 1, 6)
    smoothing = SGD(lr=0.1, batch_size=5)
    scores = ui.score_jacobian(given.J, given.residual, training=Converged(0.1), smoothing=smoothing)
    wanted = train(given, Converged(0.1)).leave_out().smoothed(smoothing)
    assert wanted.conditioning is not None
    close(scores.smoothed, wanted.information, rtol=1e-12)
    assert "smoothed" in scores.frame()
    told = scores.settings["smoothing"]
    assert (told["kind"], told["lr"], told["batch_size"], told["floor"], told["raised"]) == ("SGD", 0.1, 5, 1e-8, 0)
    assert told["condition_number"] == wanted.conditioning.condition_number
    back = ui.load(scores.save(str(tmp_path)))
    close(back.smoothed, scores.smoothed)
    assert back.settings["smoothing"] == told


def test_a_network_is_scored_with_a_smoothing() -> None:
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    X, y = torch.randn(12, 3), torch.arange(12) % 2
    scores = ui.score(model, (X, y), (X, y), training=Converged(0.1), smoothing=Fisher((X, y)), progress=False)
    close(scores.smoothed, scores.functional, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Isotropic(0.0), "Isotropic: sigma"),
        (lambda: SGD(lr=-1.0, batch_size=5), "SGD: lr"),
        (lambda: SGD(lr=0.1, batch_size=0), "SGD: batch_size"),
        (lambda: SGD(lr=0.1, batch_size=5, floor=0.0), "SGD: floor"),
        (lambda: Langevin(lr=0.1, batch_size=5, sigma=float("nan")), "Langevin: sigma"),
    ],
)
def test_settings_that_make_no_sense_are_named(make: type[Smoothing], named: str) -> None:
    with pytest.raises(InputError, match=named):
        make()


def test_what_is_no_smoothing_is_refused() -> None:
    given = problem(4, 1, 2)
    with pytest.raises(InputError, match="smoothing: expected"):
        ui.score_jacobian(given.J, given.residual, training=Converged(0.1), smoothing="sgd")  # type: ignore[arg-type]
