"""Which training samples made a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import uniqueinfo as ui
from tests.oracles import retraining
from tests.pages.examples import digits
from tests.problems import problem, trainings
from uniqueinfo.applications.attribute import attribute
from uniqueinfo.training import Reduction


@pytest.fixture(scope="module")
def scored() -> ui.Scores:
    return digits(n=120, wrong=6)[0]


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", ["descent", "flow with decay", "ridge", "minimum norm"])
@pytest.mark.parametrize(("n", "D"), [(8, 40), (14, 9)])  # dual and primal
def test_the_changes_are_those_of_training_again_without_each_sample(
    n: int, D: int, name: str, reduction: Reduction
) -> None:
    given = problem(n, 2, D)
    training = trainings(given, reduction)[name]
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    full = retraining.weights(given.J, given.residual, training)
    truth = [given.J_val[3, 1] @ (full - retraining.weights(given.J, given.residual, training, [i])) for i in range(n)]
    # 1e-8 of the largest: the rational fit keeps nine digits of what was learnt
    np.testing.assert_allclose(attribute(scores, 3, output=1).change, truth, atol=1e-8 * np.abs(truth).max())


def test_one_output_moves_as_among_all_of_them(scored: ui.Scores) -> None:
    origin = scored.origin
    assert origin.probe is not None
    moved = np.concatenate([part for _, part in origin.run.leave_out().output_changes(origin.probe)])
    np.testing.assert_allclose(attribute(scored, 4, output="7").change, moved[:, 4, 7], atol=1e-12)


def test_new_samples_are_looked_at_through_a_probe() -> None:
    given = problem(10, 1, 6)
    scores = ui.score_jacobian(given.J, given.residual, training=ui.Converged(0.1))
    probe = scores.origin.run.linearization.probe(given.J_val)
    same = ui.score_jacobian(given.J, given.residual, given.J_val, training=ui.Converged(0.1))
    np.testing.assert_allclose(attribute(scores, 2, probe=probe).change, attribute(same, 2).change, rtol=1e-12)
    assert not attribute(scores, 2, probe=probe).validation


def test_a_network_is_moved_as_its_linearization_trained_again() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    rng = np.random.default_rng(0)
    X, y, new = rng.normal(size=(12, 5)).astype(np.float32), np.arange(12) % 3, rng.normal(size=(4, 5))
    training = ui.GradientDescent(0.1, 50)
    found = attribute(ui.score(model, (X, y), (new.astype(np.float32), y[:4]), training=training), 2, output=1)
    for i in (0, 7):
        kept = np.arange(12) != i
        rest = ui.linearize(model, (X[kept], y[kept]), projection=None).train(training)
        without = rest.outputs(rest.linearization.probe(new[2:3].astype(np.float32)))[0, 1]
        assert found.prediction - without == pytest.approx(found.change[i], abs=1e-6)  # networks are float32


def test_the_predicted_class_is_looked_at_unless_another_is_named(scored: ui.Scores) -> None:
    outputs = scored.origin.run.outputs(scored.origin.probe)
    found = attribute(scored, 5)
    assert found.output == str(outputs[5].argmax())
    assert found.prediction == pytest.approx(outputs[5].max())
    assert attribute(scored, 5, output="3").prediction == pytest.approx(outputs[5, 3])


def test_two_classes_that_share_an_output_push_in_opposite_directions() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.where(np.arange(20) % 2, "cat", "dog")
    scores = ui.score_features(X, y, X[:4], training=ui.Converged(0.1))
    cat, dog = attribute(scores, 1, output="cat"), attribute(scores, 1, output="dog")
    np.testing.assert_allclose(cat.change, -dog.change)
    assert cat.prediction + dog.prediction == pytest.approx(1)


def test_the_strongest_come_first_whatever_their_sign(scored: ui.Scores) -> None:
    table = attribute(scored, 0).frame(everyone=True)
    assert (np.diff(table["change"].abs()) <= 0).all()
    assert len(attribute(scored, 0, top=7).frame()) == 7


def test_galleries_show_the_sample_and_who_pushes_it_each_way(scored: ui.Scores) -> None:
    found = attribute(scored, 9, top=5)
    itself, up, down = found.galleries()
    assert [(shown.sample, shown.split) for shown in itself.samples] == [(9, "validation")]
    order = np.argsort(found.change)
    assert {shown.sample for shown in up.samples} == set(order[-5:].tolist())
    assert {shown.sample for shown in down.samples} == set(order[:5].tolist())


def test_the_sentence_names_the_strongest(scored: ui.Scores) -> None:
    found = attribute(scored, 9)
    assert f"Most of all digit-{found.change.argmax():03d} " in found.sentence
    assert f"Most of all digit-{found.change.argmin():03d} " in found.sentence


def test_the_plot_has_a_bar_for_each_named_sample(scored: ui.Scores) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = attribute(scored, 9, top=6).plot()
    assert len(axes.patches) == 6
    matplotlib.pyplot.close(axes.figure)


@pytest.mark.parametrize(
    ("sample", "given", "message"),
    [
        (40, {}, "samples 0 … 39"),
        (0, {"output": "zebra"}, "there is no class 'zebra'"),
        (0, {"top": 0}, "top: expected at least 1"),
    ],
)
def test_bad_settings_are_named(scored: ui.Scores, sample: int, given: dict[str, object], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        attribute(scored, sample, **given)  # type: ignore[arg-type]


def test_scores_without_validation_samples_need_a_probe() -> None:
    with pytest.raises(ui.InputError, match="hand over a probe"):
        attribute(ui.score_features(np.eye(3), np.ones(3), training=ui.Converged(0.1)), 0)


def test_of_several_numbers_to_predict_one_must_be_named() -> None:
    scores = ui.score_features(np.eye(3), np.eye(3), np.eye(3), training=ui.Converged(0.1))
    with pytest.raises(ui.InputError, match="say which: 0, 1, 2"):
        attribute(scores, 0)


@pytest.fixture(scope="module")
def named() -> ui.Scores:
    """Ten samples of numbers, the validation samples named by the index of their table."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(10, 2)), columns=["a", "b"], index=range(400, 410))
    X_val = pd.DataFrame(rng.normal(size=(2, 2)), columns=["a", "b"], index=["left", "right"])
    return ui.score_features(X, np.arange(10) % 3, X_val, effects=2)


def test_a_sample_is_chosen_by_its_id(named: ui.Scores) -> None:
    found = attribute(named, sample_id="right")
    np.testing.assert_array_equal(found.change, attribute(named, 1).change)
    assert "validation sample right is" in found.sentence


def test_an_id_that_is_not_there_is_answered_with_the_one_that_may_be_meant(named: ui.Scores) -> None:
    with pytest.raises(ui.InputError, match="called 'rigth'; did you mean 'right'"):
        attribute(named, sample_id="rigth")


@pytest.mark.parametrize("which", [{}, {"sample": 1, "sample_id": "right"}])
def test_one_sample_is_asked_about(named: ui.Scores, which: dict[str, Any]) -> None:
    with pytest.raises(ui.InputError, match=r"--val-index.*--val-id"):
        attribute(named, **which)


def test_numbers_of_samples_and_classes_have_no_decimal_point(named: ui.Scores) -> None:
    found = attribute(named, 0)
    first = int(found.samples[0])
    assert f"{400 + first} (labelled {first % 3})" in found.sentence


def test_effects_name_validation_samples_by_their_ids(named: ui.Scores) -> None:
    assert named.effects is not None
    assert named.effects.ids is not None
    assert (named.effects.ids == np.array(["left", "right"])[named.effects.validation]).all()
