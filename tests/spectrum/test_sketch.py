"""A sketch: some directions exactly, and one curvature for all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from tests import problems
from tests.oracles import retraining
from tests.oracles.compare import close
from tests.problems import Problem, problem, trainings
from tests.spectrum.sketches import measures, sketched, typically_off, within_reach
from uniqueinfo import Converged, GradientFlow, InputError, Linearization
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.types import Floats

KINDS = [kind for kind in problems.KINDS if kind != "minimum norm"]


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
    full = retraining.from_hessian(hessian, moment, training)
    close(run.weights().reshape(full.shape), full, atol=1e-8 * float(np.abs(full).max()))
    checked = 0
    for i in range(len(J)):
        rest = hessian - J[i].T @ J[i]
        if np.linalg.eigvalsh(rest)[0] < -1e-9:  # no longer a Hessian: the poles were not fitted there
            continue
        change, checked = full - retraining.from_hessian(rest, moment - J[i].T @ R[i], training), checked + 1
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


def test_the_same_seed_gives_the_same_bits() -> None:
    given = problem(60, 2, 50, decades=3)
    training = within_reach(sketched(given, 20)[1])
    scores = [
        ui.score_jacobian(given.J, given.residual, given.J_val, sketch=20, training=training).frame() for _ in range(2)
    ]
    assert scores[0].equals(scores[1])


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


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too many": ({"sketch": 30}, "fewer than 30"),
    "none": ({"sketch": 0}, "1 or more"),
    "not a number": ({"sketch": True}, "got True"),
    "two forms": ({"sketch": 5, "form": "primal"}, "is a form of its own"),
    "to the end": ({"sketch": 20, "training": Converged()}, "Keep more directions"),
    "too far": ({"sketch": 20, "training": GradientFlow(1e6, 1e6)}, "times as far as a sketch of 20 directions"),
    "smoothed by SGD": ({"sketch": 20, "smoothing": ui.SGD(lr=0.1, batch_size=1)}, "SGD needs every direction"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_sketch_cannot_do_is_refused(case: str) -> None:
    options, message = WRONG[case]
    given = problem(40, 1, 30, decades=1)
    with pytest.raises(InputError, match=message):
        ui.score_jacobian(given.J, given.residual, **({"training": GradientFlow(1e-3, 1.0)} | options))
