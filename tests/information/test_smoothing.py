"""Information in the weights with every smoothing, against dense formulas and other people's software."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as such_that
from hypothesis import settings
from hypothesis import strategies as st

import uniqueinfo as ui
from tests.oracles import retraining, steadystate
from tests.oracles.compare import close
from tests.problems import Problem, problem
from uniqueinfo import SGD, Converged, Fisher, GradientFlow, InputError, Isotropic, Langevin, Linearization
from uniqueinfo.information.smoothing import Smoothing, gradient_covariance
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Reduction, Training
from uniqueinfo.types import Floats

SMOOTHINGS = [Isotropic(0.3), Langevin(0.1, 5, 0.7), SGD(0.1, 5), SGD(0.1, 5, diagonal=True)]
FORMS: list[Form] = ["dual", "primal"]
REDUCTIONS: list[Reduction] = ["mean", "sum"]
GROUPS = [[0], [3], [1, 2], [7, 4, 5]]


def train(given: Problem, training: Training, form: Form = "auto") -> Trained:
    return Linearization.from_jacobian(given.J, given.residual, form=form).train(training)


def ridge(given: Problem, reduction: Reduction, decay: float = 0.3) -> Converged:
    """Decay of a tenth or so of the spectrum under either reduction."""
    return Converged(decay * (given.J.shape[2] if reduction == "sum" else 1.0), reduction)


def deltas(given: Problem, training: Training, groups: list[list[int]]) -> Floats:
    w = retraining.weights(given.J, given.residual, training)
    return np.stack([w - retraining.weights(given.J, given.residual, training, group) for group in groups])


def head() -> tuple[Floats, Floats, Problem]:
    """A linear head with three outputs, and the same written out as a Jacobian."""
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
    J = np.einsum("np,kj->nkpj", X, np.eye(3)).reshape(40, 3, 15)
    return X, Y, Problem(J, Y, J[:4], Y[:4])


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
    close(found, np.einsum("id,de,ie->i", delta, np.linalg.inv(dense), delta) / 2, rtol=1e-6)


def test_with_more_weights_than_samples_it_equals_the_dense_formula_on_the_row_space() -> None:
    given = problem(30, 2, 200)
    training = ridge(given, "mean")
    dense = steadystate.covariance(given.J, given.residual, training, training.weight_decay, 0.1 / 5)
    basis = np.linalg.svd(given.J.reshape(60, 200), full_matrices=False)[2]
    delta = deltas(given, training, GROUPS) @ basis.T
    wanted = np.einsum("id,de,ie->i", delta, np.linalg.inv(basis @ dense @ basis.T), delta) / 2
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


@pytest.mark.parametrize("diagonal", [False, True])
def test_gradient_covariance_is_that_of_the_gradients(diagonal: bool) -> None:
    given = problem(20, 3, 12)
    training = ridge(given, "mean")
    wanted = steadystate.noise(given.J, given.residual, retraining.weights(given.J, given.residual, training))
    for form in FORMS:
        found = gradient_covariance(train(given, training, form), diagonal)
        close(found, np.diag(wanted) if diagonal else wanted, atol=1e-12 * np.abs(wanted).max())


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


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_linear_heads_covariances_are_in_the_order_of_its_weights(diagonal: bool) -> None:
    X, Y, written = head()
    run, other = Linearization.from_features(X, Y).train(Converged(0.1)), train(written, Converged(0.1))
    close(gradient_covariance(run, diagonal), gradient_covariance(other, diagonal), atol=1e-12)
    close(SGD(0.1, 5).covariance(run), SGD(0.1, 5).covariance(other), atol=1e-12)


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


def test_at_interpolation_the_error_says_why_and_what_to_do() -> None:
    given = problem(8, 2, 40)
    removal = train(given, Converged()).leave_out()
    with pytest.raises(InputError, match=r"interpolates its 8 samples.*Λ = 0.*Add weight decay or stop"):
        removal.weight_information(SGD(0.1, 5))
    assert np.isfinite(removal.weight_information(Langevin(0.1, 5))).all()


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
