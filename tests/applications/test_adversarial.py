"""Inputs against a clean reference, and adversarial examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

import uniqueinfo as ui
from tests.pages.examples import digits
from tests.problems import problem, trainings
from uniqueinfo.applications.adversarial import adversarial
from uniqueinfo.experiments.attacks import fgsm, pgd
from uniqueinfo.scoring.arrays import score_linearization
from uniqueinfo.training import Reduction


@pytest.fixture(scope="module")
def clean() -> ui.Scores:
    """Three hundred digits, their labels right."""
    return digits(n=300, wrong=0, training=ui.GradientDescent(0.05, 400))[0]


def _network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Dropout(0.5), nn.Linear(10, 3))


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", ["descent", "descent with decay", "momentum", "flow", "ridge"])
@pytest.mark.parametrize(("n", "D"), [(8, 40), (14, 9)])  # new rows outside the span of those there are, and inside
def test_an_input_tells_what_it_would_as_one_more_sample(n: int, D: int, name: str, reduction: Reduction) -> None:
    given, new = problem(n, 2, D), problem(3, 2, D, seed=1)
    together = [
        (np.concatenate([given.J, new.J[[i]]]), np.concatenate([given.residual, new.residual[[i]]])) for i in range(3)
    ]
    training = trainings(problem(n + 3, 2, D), reduction)[name]
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    probe = scores.origin.run.linearization.probe(new.J, new.residual)
    wanted = [ui.score_jacobian(J, r, given.J_val, training=training).functional for J, r in together]
    found = adversarial(scores, probe).information
    np.testing.assert_allclose(found, [one[-1] for one in wanted if one is not None], rtol=1e-6)
    weights = ui.score_jacobian(given.J, given.residual, training=training)
    probe = weights.origin.run.linearization.probe(new.J, new.residual)
    truth = [ui.score_jacobian(J, r, training=training).weight[-1] for J, r in together]
    np.testing.assert_allclose(adversarial(weights, probe).information, truth, rtol=1e-6)


def test_a_head_of_many_outputs_counts_them_all() -> None:
    rng = np.random.default_rng(0)
    X, y, new = rng.normal(size=(30, 4)), np.arange(30) % 3, rng.normal(size=(2, 4))
    scores = ui.score_features(X, y, X[:9], training=ui.Converged(0.1), head="paper")
    found = adversarial(scores, scores.origin.run.linearization.probe(new, np.eye(3)[[0, 2]])).information
    for i, label in enumerate((0, 2)):
        one = ui.score_features(
            np.vstack([X, new[[i]]]), [*y, label], X[:9], training=ui.Converged(0.1), head="paper"
        ).functional
        assert one is not None
        assert found[i] == pytest.approx(one[-1], rel=1e-9)


def test_few_clean_inputs_and_most_others_stand_out() -> None:
    X, y = load_digits(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(X))  # writers come one after the other
    X, y = np.column_stack([X / 16, np.ones(len(X))])[mixed], y[mixed]
    scores = ui.score_features(X[:600], y[:600], X[600:700], training=ui.Converged(1e-3), head="paper")
    new, right = X[800:1000], y[800:1000]
    usual, odd = (
        adversarial(scores, scores.origin.run.linearization.probe(new, np.eye(10)[labels]))
        for labels in (right, (right + 5) % 10)
    )
    assert usual.count < 0.12 * 200  # a twentieth is expected, give or take
    assert odd.count > 0.6 * 200


def test_without_labels_the_predicted_class_stands_for_them(clean: ui.Scores) -> None:
    linearization = clean.origin.run.linearization
    rows = clean.origin.probe.rows[:5].numpy()[:, 0]  # type: ignore[union-attr]
    predicted = clean.origin.run.outputs(linearization.probe(rows)).argmax(axis=1)
    found = adversarial(clean, linearization.probe(rows))
    given = adversarial(clean, linearization.probe(rows, np.eye(10)[predicted]))
    np.testing.assert_array_equal(found.information, given.information)
    assert (found.frame()["label"] == found.frame()["predicted"]).all()


def test_the_share_of_clean_samples_above_counts_them(clean: ui.Scores) -> None:
    found = adversarial(clean, clean.origin.probe)
    for row in found.frame().head(3).to_dict("records"):
        assert row["above"] == pytest.approx(((found.reference >= row["information"]).sum() + 1) / 301)
    assert clean.functional is not None
    np.testing.assert_allclose(found.reference, clean.functional)


def test_a_network_takes_inputs_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 6)).astype(np.float32), np.arange(24) % 3
    val, settings = (X[:9], y[:9]), dict[str, Any](training=ui.Converged(0.1), projection=ui.Factorized(64))
    scores = ui.score(_network(), (X[:20], y[:20]), val, **settings)
    found = adversarial(scores, (X[20:], y[20:])).information
    for i in range(4):
        one_more = [*range(20), 20 + i]
        wanted = ui.score(_network(), (X[one_more], y[one_more]), val, **settings).functional
        assert wanted is not None
        assert found[i] == pytest.approx(wanted[-1], rel=1e-4)  # networks are float32


def test_exact_kernels_rank_inputs_as_rows_of_every_parameter_do() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 6)).astype(np.float32), np.arange(20) % 3
    new = rng.normal(size=(5, 6)).astype(np.float32), np.arange(5) % 3
    training, everything = ui.GradientFlow(0.1, 50.0), ui.RandomCoordinates(10_000)
    kernels = ui.score(_network(), (X, y), (X[:7], y[:7]), training=training)
    rows = ui.score(_network(), (X, y), (X[:7], y[:7]), training=training, projection=everything)
    assert kernels.settings["projection"] == "None"
    found, wanted = adversarial(kernels, new), adversarial(rows, new)
    np.testing.assert_allclose(found.information, wanted.information, rtol=1e-4)  # rows are float32


def test_kernel_values_alone_are_refused_with_what_to_do() -> None:
    kernel = ui.Linearization.from_kernel(np.eye(4), np.ones((4, 1)))
    scores = score_linearization(kernel, kernel.probe(np.ones((2, 1, 4))), ui.GradientFlow(0.1, 50.0))
    with pytest.raises(ui.InputError, match="or score with a projection"):
        adversarial(scores, kernel.probe(np.ones((2, 1, 4)), np.ones((2, 1))))


def test_training_to_the_end_without_decay_is_refused() -> None:
    given = problem(8, 1, 5)
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=ui.Converged())
    with pytest.raises(ui.InputError, match="add a little decay"):
        adversarial(scores, scores.origin.run.linearization.probe(given.J_val, given.residual_val))


def test_bad_settings_are_named(clean: ui.Scores) -> None:
    with pytest.raises(ui.InputError, match="level: expected"):
        adversarial(clean, clean.origin.probe, level=0.0)
    bare = clean.replaced(labels=None)
    with pytest.raises(ui.InputError, match="there are no labels"):
        adversarial(bare, clean.origin.run.linearization.probe(clean.origin.probe.rows[:2][:, 0]))  # type: ignore[union-attr]


def test_sentence_and_plot_tell_of_the_inputs(clean: ui.Scores) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = adversarial(clean, clean.origin.probe)
    assert f"{found.count} of 40 inputs" in found.sentence
    axes = found.plot()
    assert len(axes.patches) == 100
    matplotlib.pyplot.close(axes.figure)


def test_fgsm_moves_every_number_by_epsilon_up_the_loss() -> None:
    torch.manual_seed(1)
    model, x, y = _network(), torch.rand(7, 6), torch.arange(7) % 3
    moved = fgsm(model, x, y, 0.01, low=-1.0, high=2.0)
    torch.testing.assert_close((moved - x).abs(), torch.full_like(x, 0.01))
    slope = torch.zeros_like(x)
    model.eval()
    targets = torch.eye(3)[y]
    for i, j in np.ndindex(7, 6):  # finite differences, in float64
        step = torch.zeros(7, 6, dtype=torch.float64)
        step[i, j] = 1e-5
        double = _network().double().eval()
        loss = [(double(x.double() + sign * step) - targets).square().sum() for sign in (1, -1)]
        slope[i, j] = (loss[0] - loss[1]).sign()
    assert torch.equal((moved - x).sign(), slope)


def test_pgd_raises_the_loss_at_least_as_much_as_fgsm_within_the_same_bounds() -> None:
    torch.manual_seed(1)
    model, x, y = _network().eval(), torch.rand(60, 6), torch.arange(60) % 3
    fast, slow = fgsm(model, x, y, 0.2), pgd(model, x, y, 0.2, steps=20)
    assert (slow - x).abs().max() <= 0.2 + 1e-6
    assert slow.min() >= 0
    assert slow.max() <= 1
    losses = [(model(part) - torch.eye(3)[y]).square().sum() for part in (x, fast, slow)]
    assert losses[0] < losses[1] <= losses[2]


def test_a_network_that_has_diverged_is_refused() -> None:
    model = _network()
    nn.init.constant_(next(model.parameters()), torch.nan)
    with pytest.raises(ui.InputError, match="gives NaN or infinity"):
        fgsm(model, torch.rand(2, 6), [0, 1], 0.1)


def test_attacks_leave_the_network_as_it_was() -> None:
    model = _network()
    before = [p.clone() for p in model.parameters()]
    fgsm(model, torch.rand(4, 6), [0, 1, 2, 0], 0.1)
    assert all(module.training for module in model.modules())
    assert all(torch.equal(a, b) and b.grad is None for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("epsilon", "labels", "message"), [(0.0, [0, 1], "epsilon above 0"), (0.1, [0], "one for each")]
)
def test_bad_attacks_are_named(epsilon: float, labels: list[int], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        fgsm(_network(), torch.rand(2, 6), labels, epsilon)


def test_an_input_that_would_make_descent_diverge_is_measured_by_flow() -> None:
    given = problem(20, 1, 5)
    training = ui.GradientDescent(lr=0.05, steps=50)
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    far = scores.origin.run.linearization.probe(200 * given.J_val[:2], given.residual_val[:2])
    found = adversarial(scores, far)
    assert found.by_flow
    assert "gradient flow" in found.sentence
    flow = ui.score_jacobian(given.J, given.residual, given.J_val, training=training.flow())
    np.testing.assert_allclose(found.information, adversarial(flow, far).information)
