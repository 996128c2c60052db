"""A sketch: some directions exactly, one curvature for all others, and an estimate of the error of every score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from tests import realdata
from tests.oracles.compare import close
from tests.problems import Problem, problem, trainings
from uniqueinfo import Converged, GradientFlow, InputError, Linearization
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.information.measures import Measures
from uniqueinfo.information.uncertainty import errors, factor
from uniqueinfo.jacobian import Factorized, RowEngine
from uniqueinfo.spectrum import choice
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training import Training
from uniqueinfo.types import Floats

KINDS = [kind for kind in trainings(problem(2, 1, 2), "sum") if kind != "minimum norm"]


def sketched(given: Problem, directions: int) -> tuple[Linearization, Sketched]:
    found = Linearization.from_jacobian(given.J, given.residual, sketch=directions)
    assert isinstance(found.system, Sketched)
    return found, found.system


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


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sketch_that_holds_every_direction_is_exact(kind: str, outputs: int, reduction: Any) -> None:
    rng = np.random.default_rng(0)
    whole = problem(25, outputs, 40)
    few = np.linalg.qr(rng.normal(size=(40, 12)))[0]  # all rows lie in twelve directions
    given = Problem(whole.J @ few @ few.T, whole.residual, whole.J_val, whole.residual_val)
    training = trainings(given, reduction)[kind]
    found = measures(sketched(given, 15)[0], given, training)
    wanted = measures(Linearization.from_jacobian(given.J, given.residual, form="primal"), given, training)
    close(found.functional, wanted.functional, rtol=1e-6)
    close(found.weight, wanted.weight, rtol=1e-6)
    close(found.value, wanted.value, atol=1e-6 * float(np.abs(wanted.value).max()))  # type: ignore[arg-type]
    close(found.own[1], wanted.own[1], atol=1e-6 * float(np.abs(wanted.own[1]).max()))


def test_groups_leave_a_sketch_too() -> None:
    given = problem(30, 2, 50, decades=12)  # twelve decades of a squared length: most columns are next to nothing
    groups = [[0], [1, 2], [3, 4, 5], [1, 7]]
    linearization, system = sketched(given, 40)
    training = GradientFlow(20 / given.largest, 1.0, reduction="sum")
    exact = Linearization.from_jacobian(given.J, given.residual)
    found = linearization.train(training).leave_out(groups).functional_information(linearization.probe(given.J_val))
    wanted = exact.train(training).leave_out(groups).functional_information(exact.probe(given.J_val))
    assert system.tail < 1e-4 * system.largest
    close(found, wanted, rtol=1e-4)


def trained(H: Floats, moment: Floats, training: Training) -> Floats:
    """φ(H) times Jᵀr, from the eigenvalues of H."""
    values, basis = np.linalg.eigh(H)
    found: Floats = basis @ (training.filter(1)(values)[:, None] * (basis.T @ moment))
    return found


def check_sketched_hessian(linearization: Linearization, J: Floats, R: Floats, J_val: Floats) -> None:
    """Brute force: J_iᵀJ_i and J_iᵀR_i are taken from V diag(s) Vᵀ + μP and JᵀR, and the filter applied anew."""
    system = linearization.system
    assert isinstance(system, Sketched)
    training = within_reach(system)
    run = linearization.train(training)
    found = run.leave_out().measures(linearization.probe(J_val))
    assert found.functional is not None
    frame = system.rotate(torch.eye(J_val.shape[-1], dtype=torch.float64))  # [V, P]
    hessian = (frame * system.values @ frame.T).numpy()
    moment = np.einsum("nkd,nkc->dc", J, R)
    full = trained(hessian, moment, training)
    close(run.weights().reshape(full.shape), full, atol=1e-8 * float(np.abs(full).max()))
    checked = 0
    for i in range(len(J)):
        rest = hessian - J[i].T @ J[i]
        if np.linalg.eigvalsh(rest)[0] < -1e-9:  # no longer a Hessian: the poles were not fitted there
            continue
        change, checked = full - trained(rest, moment - J[i].T @ R[i], training), checked + 1
        close(found.weight[i], np.square(change).sum() / 2, rtol=1e-6)
        close(found.functional[i], np.square(J_val @ change).sum() / (2 * len(J_val)), rtol=1e-6)
        close(found.own[1][i, 0], (J[i] @ change).ravel(), atol=1e-6 * float(np.abs(J[i] @ change).max()))
    assert checked > len(J) / 2


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("shape", [(20, 70), (70, 30)])
def test_removals_are_those_of_the_sketched_hessian(shape: tuple[int, int], outputs: int) -> None:
    given = problem(shape[0], outputs, shape[1], decades=3)
    check_sketched_hessian(sketched(given, 14)[0], given.J, given.residual[..., None], given.J_val)


def test_removals_from_a_head_are_those_of_the_sketched_hessian() -> None:
    given, Y = problem(60, 1, 30, decades=3), np.random.default_rng(1).normal(size=(60, 3))
    head = Linearization.from_features(given.J[:, 0], Y, sketch=14)
    check_sketched_hessian(head, given.J, Y[:, None], given.J_val[:, 0])


def test_the_training_of_all_samples_is_known_to_many_more_digits_than_a_removal() -> None:
    given = problem(120, 1, 100, decades=3)
    linearization, system = sketched(given, 40)
    exact = Linearization.from_jacobian(given.J, given.residual)
    training = within_reach(system)
    gap = np.abs(linearization.train(training).outputs() - exact.train(training).outputs()).max()
    assert gap < 1e-5 * np.abs(given.residual).max()


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
        assert estimate is not None
        true.append(float(np.median(off(found.functional, wanted.functional))))
        estimated.append(float(np.median(estimate["functional"])))
    assert true[0] > 3 * true[1] > 9 * true[2]
    assert estimated[0] > 3 * estimated[1] > 9 * estimated[2]


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("name", ["functional", "weight", "value", "loo_outputs"])
def test_the_estimates_cover_the_errors(name: str, outputs: int) -> None:
    """They promise 95 % on average over draws of the samples followed; a single draw may fall short, though not far."""
    given = problem(200, outputs, 150, decades=4, m=40)
    linearization, system = sketched(given, 40)
    training = within_reach(system)
    probe = linearization.probe(given.J_val, given.residual_val)
    run = linearization.train(training)
    found = run.leave_out().measures(probe)
    wanted = measures(Linearization.from_jacobian(given.J, given.residual), given, training)
    estimate = errors(run, found, probe)
    assert estimate is not None
    true = (
        np.linalg.norm(found.own[1] - wanted.own[1], axis=(1, 2))
        if name == "loo_outputs"
        else off(getattr(found, name), getattr(wanted, name))
    )
    assert np.mean(true <= estimate[name]) > 0.85
    assert np.median(estimate[name]) < 10 * np.median(true)


def test_the_factor_covers_a_new_error_in_95_of_100_draws() -> None:
    rng = np.random.default_rng(0)
    draws = np.exp(rng.normal(size=(4000, 41)))
    covered = [draw[-1] <= factor(draw[:-1], np.ones(40)) for draw in draws]
    assert 0.94 < np.mean(covered) < 0.965  # 39/41 with a standard deviation of 0.0034


def test_the_same_seed_gives_the_same_bits() -> None:
    given = problem(60, 2, 50, decades=3)
    training = within_reach(sketched(given, 20)[1])
    scores = [
        ui.score_jacobian(given.J, given.residual, given.J_val, sketch=20, training=training).frame() for _ in range(2)
    ]
    assert scores[0].equals(scores[1])


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


def test_a_network_is_sketched() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 30), nn.Tanh(), nn.Linear(30, 1))
    X = torch.randn(80, 5)
    y = (X[:, 0] > 0).long()
    sketch = ui.score(model, (X, y), (X[:20], y[:20]), sketch=40, projection=None, progress=False)
    exact = ui.score(
        model,
        (X, y),
        (X[:20], y[:20]),
        projection=None,
        progress=False,
        training=ui.GradientDescent(sketch.settings["training"]["lr"], sketch.settings["training"]["steps"]),
    )
    assert sketch.settings["form"] == "sketch"
    assert typically_off(sketch.functional, exact.functional) < 0.05


def test_auto_stops_where_the_sketch_can_tell() -> None:
    given = problem(100, 1, 90, decades=4)
    linearization, system = sketched(given, 30)
    curve = ui.stopping_curve(linearization)
    assert curve.best.filter(given.samples).horizon <= system.reach
    whole = ui.stopping_curve(Linearization.from_jacobian(given.J, given.residual))
    close(curve.error, whole.error[: len(curve.error)], rtol=0.05)


def test_auto_says_where_it_would_go_on() -> None:
    given = problem(100, 1, 90, decades=1)
    learnable = given.J @ np.random.default_rng(0).normal(size=90)
    with pytest.warns(UserWarning, match="keep more of them"):
        ui.stopping_curve(Linearization.from_jacobian(given.J, learnable, sketch=10))


def test_both_too_large_are_sketched_unasked_and_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LARGEST", 50)
    monkeypatch.setattr(choice, "DIRECTIONS", 30)
    given = problem(80, 1, 60, decades=4)
    training = within_reach(sketched(given, 30)[1])
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    assert (scores.settings["form"], scores.settings["form_side"]) == ("sketch", 30)
    assert "80 rows (nk) and 60 columns (D): both are more than 50" in scores.settings["form_why"]
    few = ui.score_jacobian(given.J[:40], given.residual[:40], given.J_val, training=training)
    assert few.settings["form"] == "dual"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too many": ({"sketch": 30}, "fewer than 30"),
    "none": ({"sketch": 0}, "at least 1"),
    "not a number": ({"sketch": True}, "got True"),
    "two forms": ({"sketch": 5, "form": "primal"}, "is a form of its own"),
    "to the end": ({"sketch": 20, "training": Converged()}, "Keep more directions"),
    "too far": ({"sketch": 20, "training": GradientFlow(1e6, 1e6)}, "times as far as a sketch of 20 directions"),
    "smoothed by SGD": ({"sketch": 20, "smoothing": ui.SGD(lr=0.1, batch_size=1)}, "SGD needs every direction"),
    "streamed": ({"sketch": 20, "out": "nowhere"}, "goes over the samples many times"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_sketch_cannot_do_is_refused(case: str) -> None:
    options, message = WRONG[case]
    given = problem(40, 1, 30, decades=1)
    with pytest.raises(InputError, match=message):
        ui.score_jacobian(given.J, given.residual, **({"training": GradientFlow(1e-3, 1.0)} | options))


def test_a_kernel_alone_cannot_be_sketched() -> None:
    with pytest.raises(InputError, match="only the kernel is known"):
        choice.choose(100, None, sketch=10)


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
