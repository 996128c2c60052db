"""Steady states of SGD and of Langevin dynamics, against dense formulas and Cook's distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as such_that
from hypothesis import settings
from hypothesis import strategies as st

from tests.information.smoothing.made import FORMS, GROUPS, REDUCTIONS, deltas, ridge, train
from tests.oracles import retraining, steadystate
from tests.oracles.compare import close
from tests.problems import problem
from uniqueinfo import SGD, Converged, GradientFlow, InputError, Langevin, Linearization
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Reduction


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("n", "D"), [(150, 400), (500, 300)])
def test_the_steady_state_solves_the_dense_lyapunov_equation(n: int, D: int, reduction: Reduction) -> None:
    given = problem(n, 1, D)
    training = ridge(given, reduction)
    found = SGD(lr=0.1, batch_size=5, floor=1e-16).covariance(train(given, training))
    dense = steadystate.covariance(given.J, given.residual, training, training.weight_decay, 0.1 / 5)
    assert np.linalg.norm(found - dense) <= 1e-8 * np.linalg.norm(dense)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_information_in_the_reduced_basis_equals_the_dense_formula(form: Form, reduction: Reduction) -> None:
    given = problem(60, 2, 30)
    training = ridge(given, reduction)
    dense = steadystate.covariance(given.J, given.residual, training, training.weight_decay, 0.1 / 5)
    delta = deltas(given, training, GROUPS)
    found = train(given, training, form).leave_out(GROUPS).weight_information(SGD(lr=0.1, batch_size=5))
    close(found, steadystate.information(delta, dense), rtol=1e-6)


def test_with_more_weights_than_samples_it_equals_the_dense_formula_on_the_row_space() -> None:
    given = problem(30, 2, 200)
    training = ridge(given, "mean")
    dense = steadystate.covariance(given.J, given.residual, training, training.weight_decay, 0.1 / 5)
    basis = np.linalg.svd(given.J.reshape(60, 200), full_matrices=False)[2]
    delta = deltas(given, training, GROUPS) @ basis.T
    wanted = steadystate.information(delta, basis @ dense @ basis.T)
    found = train(given, training).leave_out(GROUPS).smoothed(SGD(lr=0.1, batch_size=5))
    assert found.conditioning is not None
    assert found.conditioning.raised == 0
    close(found.information, wanted, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@such_that(
    n=st.integers(3, 30),
    k=st.integers(1, 3),
    D=st.integers(1, 20),
    time=st.floats(-1, 3),
    reduction=st.sampled_from(REDUCTIONS),
    seed=st.integers(0, 2**16),
)
def test_any_shape_and_time_gives_the_floored_dense_formula(
    n: int, k: int, D: int, time: float, reduction: Reduction, seed: int
) -> None:
    given = problem(n, k, D, seed=seed)
    unit = (n if reduction == "mean" else 1) / given.largest
    decay = 0.05 / unit
    training = GradientFlow(unit, 10**time, decay, reduction)
    dense = steadystate.covariance(given.J, given.residual, training, decay, 0.1)
    _, singular, right = np.linalg.svd(given.J.reshape(-1, D), full_matrices=False)
    basis = right[singular > 1e-7 * singular.max()]
    values, axes = np.linalg.eigh(basis @ dense @ basis.T)
    parts = np.square(deltas(given, training, [[0], [1]]) @ basis.T @ axes)
    wanted = (parts / np.maximum(values, 1e-3 * values.max())).sum(axis=1) / 2
    for form in FORMS:
        removal = train(given, training, form).leave_out([[0], [1]])
        precision = SGD(0.1, 1, floor=1e-3).precision(train(given, training, form))
        found = np.concatenate([precision.of(chunk.delta)[0].numpy() / 2 for chunk in removal.changes()])
        close(found, wanted, rtol=1e-5, atol=1e-9 * wanted.max())


def test_the_diagonal_of_the_noise_gives_each_direction_its_own_width() -> None:
    given = problem(60, 1, 20)
    training = ridge(given, "mean")
    H = steadystate.hessian(given.J, training, training.weight_decay)
    values, basis = np.linalg.eigh(H)
    w = retraining.weights(given.J, given.residual, training)
    noise = np.diag(basis.T @ steadystate.noise(given.J, given.residual, w) @ basis)
    delta = deltas(given, training, GROUPS) @ basis
    found = train(given, training).leave_out(GROUPS).weight_information(SGD(0.1, 5, diagonal=True))
    close(found, (delta**2 / (0.1 / 5 * noise / (2 * values))).sum(axis=1) / 2, rtol=1e-8)


def test_langevin_smoothing_knows_no_interpolation() -> None:
    given, training = problem(8, 2, 40), Converged()
    delta = deltas(given, training, GROUPS)
    wanted = 5 / 0.1 * np.einsum("id,de,ie->i", delta, steadystate.hessian(given.J, training, 0.0), delta)
    close(train(given, training).leave_out(GROUPS).weight_information(Langevin(0.1, 5)), wanted, rtol=1e-8)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_langevin_smoothing_is_the_change_measured_by_the_hessian(reduction: Reduction) -> None:
    given = problem(20, 2, 50)
    training = ridge(given, reduction)
    delta = deltas(given, training, GROUPS)
    H = steadystate.hessian(given.J, training, training.weight_decay)
    wanted = 5 / (0.1 * 0.7**2) * np.einsum("id,de,ie->i", delta, H, delta)
    close(train(given, training).leave_out(GROUPS).weight_information(Langevin(0.1, 5, 0.7)), wanted, rtol=1e-8)


def test_langevin_smoothing_is_cooks_distance_on_the_diabetes_data() -> None:
    from sklearn.datasets import load_diabetes
    from statsmodels.api import OLS

    X, y = load_diabetes(return_X_y=True)
    X = np.column_stack([X, np.ones(len(X))])
    cook = OLS(y, X).fit().get_influence().cooks_distance[0]
    run = Linearization.from_features(X, y[:, None]).train(Converged(reduction="sum"))
    found = run.leave_out().weight_information(Langevin(lr=0.1, batch_size=10))
    assert abs(np.corrcoef(found, cook)[0, 1] - 1) <= 1e-8
    close(found / found.sum(), cook / cook.sum(), rtol=1e-8)


def test_at_interpolation_the_error_says_why_and_what_to_do() -> None:
    given = problem(8, 2, 40)
    removal = train(given, Converged()).leave_out()
    with pytest.raises(InputError, match=r"interpolates its 8 samples.*Λ = 0.*Add weight decay or stop"):
        removal.weight_information(SGD(0.1, 5))


def test_a_single_sample_has_no_noise() -> None:
    with pytest.raises(InputError, match="single sample"):
        train(problem(1, 1, 3), Converged(0.1)).leave_out().weight_information(SGD(0.1, 5))


def test_information_that_the_floor_decides_is_told() -> None:
    given = problem(40, 1, 6)
    given.J[1:, :, 5] = 0  # sample 0 alone holds a direction
    run = train(given, Converged(0.01))
    with pytest.warns(UserWarning, match="depends on this floor"):
        found = run.leave_out().smoothed(SGD(0.1, 5), exact=True)
    assert found.conditioning is not None
    assert found.conditioning.raised == 1
    assert found.conditioning.condition_number > 1e8
    assert found.below_floor.argmax() == 0
    assert found.share_below_floor > 0.9
