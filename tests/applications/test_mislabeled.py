"""Which labels look wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_digits

import uniqueinfo as ui
from tests.pages.examples import digits, synthetic
from uniqueinfo.applications.mislabeled import mislabeled
from uniqueinfo.scores.predictions import Predictions


@pytest.fixture(scope="module")
def planted() -> ui.Scores:
    """Six hundred digits; the labels of the first thirty are wrong."""
    return digits(n=600, wrong=30)[0]


def test_most_wrong_labels_are_found(planted: ui.Scores) -> None:
    found = mislabeled(planted)
    assert np.isin(np.arange(30), found.samples[: found.count]).mean() > 0.8


def test_the_noise_rate_is_near_the_truth(planted: ui.Scores) -> None:
    assert mislabeled(planted).noise_rate == pytest.approx(0.05, abs=0.02)


def test_the_suggestion_is_mostly_the_true_label(planted: ui.Scores) -> None:
    wrong = mislabeled(planted).frame(everyone=True).loc[:29]
    truth = [str((int(label) - 5) % 10) for label in wrong["label"]]
    assert (wrong["suggested"] == truth).mean() > 0.8


def test_the_lowest_margin_comes_first_where_asked_for(planted: ui.Scores) -> None:
    table = mislabeled(planted, criterion="margin").frame(everyone=True)
    assert table["margin"].is_monotonic_increasing


def test_the_most_probably_wrong_label_comes_first(planted: ui.Scores) -> None:
    assert mislabeled(planted).frame(everyone=True)["wrong"].is_monotonic_decreasing


def test_the_most_information_comes_first_where_asked_for(planted: ui.Scores) -> None:
    table = mislabeled(planted, criterion="information").frame(everyone=True)
    assert table["functional"].is_monotonic_decreasing


def test_training_loss_stands_beside(planted: ui.Scores) -> None:
    table = mislabeled(planted).frame(everyone=True).sort_index()
    np.testing.assert_allclose(table["training_loss"], np.square(planted.outputs - planted.targets).sum(axis=1) / 2)


def test_training_loss_is_the_one_of_the_training(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    training = ui.Converged(0.1, loss="cross-entropy")
    ui.score_features(np.eye(3)[y] + rng.normal(size=(60, 3)), y, training=training, out=tmp_path / "run")
    scores = ui.load(tmp_path / "run")
    table = mislabeled(scores).frame(everyone=True).sort_index()
    np.testing.assert_allclose(table["training_loss"], -log_softmax(scores.outputs, axis=1)[np.arange(60), y])


def test_a_given_noise_rate_is_the_cut_off(planted: ui.Scores) -> None:
    assert len(mislabeled(planted, noise_rate=0.1).frame()) == 60


def test_a_given_precision_is_what_is_expected_of_the_suspects(planted: ui.Scores) -> None:
    found = mislabeled(planted, precision=0.7)
    assert found.frame()["wrong"].mean() >= 0.7 > found.frame(everyone=True)["wrong"][: found.count + 1].mean()


def test_the_count_covers_the_truth_and_is_said(planted: ui.Scores) -> None:
    found = mislabeled(planted)
    assert found.expected.low <= 30 <= found.expected.high
    told = (found.expected.value, found.expected.low, found.expected.high)
    about = "About {:,.0f} labels are wrong ({:,.0f} at least; up to {:,.0f} if mistakes fall on the hard samples)."
    assert about.format(*told) in found.sentence


def test_neighbours_in_the_kernel_find_no_fewer(planted: ui.Scores) -> None:
    found, alone = mislabeled(planted, neighbours=True), mislabeled(planted)
    assert np.isin(found.samples[:30], np.arange(30)).sum() >= np.isin(alone.samples[:30], np.arange(30)).sum() - 2


def test_saved_scores_have_no_neighbours(planted: ui.Scores) -> None:
    with pytest.raises(ui.InputError, match="no longer hold"):
        mislabeled(planted.replaced(source=None), neighbours=True)


def test_labels_nobody_contradicts_are_all_trusted() -> None:
    scores = synthetic(30)
    assert mislabeled(scores.replaced(loo_outputs=scores.targets)).count == 0


def test_the_suggestion_always_differs_from_the_label(planted: ui.Scores) -> None:
    table = mislabeled(planted).frame(everyone=True)
    assert (table["suggested"] != table["label"]).all()


def test_one_output_for_two_classes_equals_two_outputs() -> None:
    two = synthetic(50, 2)
    f = np.random.default_rng(1).normal(0.5, 0.5, size=(50, 1))
    two = two.replaced(loo_outputs=np.hstack([1 - f, f]))
    one = two.replaced(loo_outputs=f, outputs=two.outputs[:, 1:], targets=two.targets[:, 1:])
    a, b = Predictions.of(one), Predictions.of(two)
    assert a is not None
    assert b is not None
    np.testing.assert_allclose(a.margin, b.margin)
    np.testing.assert_array_equal(a.predicted, b.predicted)


def test_probabilities_add_up_to_one(planted: ui.Scores) -> None:
    found = Predictions.of(planted)
    assert found is not None
    np.testing.assert_allclose(found.probability.sum(axis=1), 1)
    assert (found.probability >= 0).all()


def test_the_plot_shows_every_sample(planted: ui.Scores) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = mislabeled(planted).plot()
    assert sum(bar.get_height() for bars in axes.containers for bar in bars) == len(planted)
    matplotlib.pyplot.close(axes.figure)


def test_cleaning_replaces_the_labels_of_likely_suspects_alone(planted: ui.Scores) -> None:
    found = mislabeled(planted)
    table = found.cleaned()
    assert list(table["id"]) == list(planted.frame()["id"])
    changed = table["label"] != table["given"]
    np.testing.assert_array_equal(changed, table["decision"] == "relabel")
    assert (table["label"][changed] == table["suggested"][changed]).all()


def test_a_decision_stands_beside_every_label(planted: ui.Scores) -> None:
    found = mislabeled(planted)
    table, suspects = found.cleaned(), found.samples[: found.count]
    np.testing.assert_array_equal(np.flatnonzero(table["decision"] != "keep"), np.sort(suspects))


def test_suspects_whose_suggestion_is_hardly_likelier_are_to_be_checked() -> None:
    scores = synthetic(4, 2).replaced(
        loo_outputs=np.array([[0.45, 0.55], [0.1, 0.9], [1.0, 0.0], [0.0, 1.0]]), targets=np.eye(2)[[0, 0, 0, 1]]
    )
    found = mislabeled(scores, criterion="margin", noise_rate=0.5)
    assert found.cleaned()["decision"].tolist() == ["check", "relabel", "keep", "keep"]


def test_cleaning_makes_more_labels_right(planted: ui.Scores) -> None:
    table = mislabeled(planted).cleaned()
    truth = load_digits().target[:600].astype(str)
    assert (table["label"] == truth).mean() > 0.98 > (table["given"] == truth).mean() + 0.02


def test_dropped_suspects_are_gone_and_the_rest_is_as_given(planted: ui.Scores) -> None:
    found = mislabeled(planted, noise_rate=0.1)
    table = found.cleaned(drop=True)
    assert len(table) == 540
    assert (table["label"] == table["given"]).all()
    assert not set(found.frame()["id"]) & set(table["id"])


def test_the_users_columns_stay_with_their_samples(planted: ui.Scores) -> None:
    assert planted.columns is not None
    table = mislabeled(planted).cleaned(drop=True)
    np.testing.assert_array_equal(table["ink"], planted.columns["ink"].to_numpy()[table.index])


def test_leave_one_out_probabilities_are_what_cleanlab_takes(planted: ui.Scores) -> None:
    filters = pytest.importorskip("cleanlab.filter")
    given = np.asarray(planted.labels)
    found = filters.find_label_issues(given, planted.loo_probabilities(), return_indices_ranked_by="normalized_margin")
    assert (found[:20] < 30).all()  # its surest are planted ones
    assert np.isin(found, mislabeled(planted).samples[:40]).mean() > 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"criterion": "loss"}, 'criterion: expected "probability", "margin" or "information"'),
        ({"precision": 2}, "precision: expected a share between 0 and 1"),
        ({"precision": 0.9, "noise_rate": 0.1}, "give one of them"),
        ({"noise_rate": 1.5}, "noise_rate: expected a share between 0 and 1"),
    ],
)
def test_bad_settings_are_named(planted: ui.Scores, given: dict[str, object], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        mislabeled(planted, **given)  # type: ignore[arg-type]


def test_outputs_that_say_no_labels_are_refused() -> None:
    with pytest.raises(ui.InputError, match="where outputs say labels"):
        mislabeled(synthetic(10, labels=np.linspace(0, 1, 10)))
