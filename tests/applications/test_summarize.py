"""How few samples are enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import uniqueinfo as ui
from tests.pages.examples import digits
from uniqueinfo.applications.summarize import curve, summarize
from uniqueinfo.linearization.selection import Selection
from uniqueinfo.linearization.subsets import Subset

RIDGE = ui.Converged(1e-3)


@pytest.fixture(scope="module")
def scored() -> ui.Scores:
    return digits(n=100, wrong=4, training=RIDGE)[0]


def features(n: int) -> tuple[Any, Any]:
    """What `digits` scores: the first n are trained on, the next 40 validate."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    y[:4] = (y[:4] + 5) % 10
    return np.column_stack([X / 16, np.ones(len(X))])[:n], y[:n]


def test_the_curve_is_that_of_training_on_the_kept_samples(scored: ui.Scores) -> None:
    found = summarize(scored, keep=0.5, strategy="bottom", step=0.25)
    X, y = features(140)
    for count, accuracy in zip(found.frame()["samples"], found.frame()["accuracy"], strict=True):
        kept = np.sort(np.argsort(np.asarray(scored.functional))[100 - count :])
        alone = ui.score_features(
            X[kept], y[kept], X[100:], y[100:], training=RIDGE, classes=range(10), head="paper"
        ).origin
        assert accuracy == (alone.run.outputs(alone.probe).argmax(axis=1) == y[100:]).mean()


def test_iterative_scores_the_rest_anew_after_every_batch(scored: ui.Scores) -> None:
    found = summarize(scored, keep=0.7, strategy="iterative", step=0.1)
    X, y = features(140)
    kept = np.arange(100)
    for _ in range(3):
        scores = ui.score_features(X[kept], y[kept], X[100:], training=RIDGE, classes=range(10), head="paper")
        assert scores.functional is not None
        kept = np.delete(kept, np.argsort(scores.functional, kind="stable")[:10])
    np.testing.assert_array_equal(found.samples, kept)


def test_top_and_bottom_leave_from_opposite_ends(scored: ui.Scores) -> None:
    top, bottom = summarize(scored, keep=0.5, strategy="top"), summarize(scored, keep=0.5, strategy="bottom")
    assert not set(top.samples) & set(bottom.samples)


def test_greedy_minimizes_what_all_that_left_cost_together() -> None:
    """One at a time, each choice is that of brute force over group removals."""
    scores, _ = digits(n=12, wrong=0, training=RIDGE)
    origin = scores.origin
    whole = Subset(origin.run, origin.probe, origin.probe)
    assert scores.functional is not None
    assert origin.probe is not None
    selection = Selection(whole, scores.functional, np.zeros(12, dtype=np.intp))
    gone: list[int] = []
    for kept in selection.rounds("greedy", [11, 10, 9, 8], seed=0):
        rest = [i for i in range(12) if i not in gone]
        joint = origin.run.leave_out([[*gone, i] for i in rest]).functional_information(origin.probe)
        gone.append(rest[int(joint.argmin())])
        assert set(kept) == set(range(12)) - set(gone)


def test_greedy_keeps_one_of_each_pair_of_copies_and_bottom_none() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 30))
    X = np.vstack([X, X[:10]])  # the first ten have a copy each: without information alone, with all of it together
    y = rng.normal(size=20)
    y = np.concatenate([y, y[:10]])
    scores = ui.score_features(X, y, X, y, training=ui.Converged(1e-6))
    origins = np.arange(30) % 20
    greedy = summarize(scores, keep=20 / 30, strategy="greedy", step=1 / 30)
    assert set(origins[greedy.samples]) == set(range(20))
    bottom = summarize(scores, keep=20 / 30, strategy="bottom", step=1 / 30)
    assert set(origins[bottom.samples]) < set(range(20))
    assert greedy.frame()["loss"].iloc[-1] < 0.01 * bottom.frame()["loss"].iloc[-1]


@pytest.mark.parametrize("strategy", ["iterative", "greedy", "bottom", "random"])
def test_balanced_takes_the_same_share_of_every_class(scored: ui.Scores, strategy: Any) -> None:
    found = summarize(scored, keep=0.5, strategy=strategy, balanced=True)
    labels = np.asarray(scored.labels)
    counts = np.bincount(labels[found.samples], minlength=10)
    assert np.abs(counts - np.bincount(labels) / 2).max() <= 1
    assert len(found.samples) == 50


@pytest.mark.parametrize("strategy", ["iterative", "greedy", "random"])
def test_the_same_seed_keeps_the_same_samples(scored: ui.Scores, strategy: Any) -> None:
    one, two = (summarize(scored, keep=0.8, strategy=strategy, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.samples, two.samples)
    assert one.frame().equals(two.frame())


def test_another_seed_picks_others_at_random(scored: ui.Scores) -> None:
    one, two = (summarize(scored, keep=0.5, strategy="random", seed=seed).samples for seed in (0, 1))
    assert not np.array_equal(one, two)


def test_kept_ids_are_the_users_names_in_their_order(scored: ui.Scores) -> None:
    found = summarize(scored, keep=0.3)
    assert list(found.kept_frame()["id"]) == [f"digit-{i:03d}" for i in sorted(found.samples)]
    assert len(found.ids) == 30


def test_the_steps_end_at_the_share_wanted(scored: ui.Scores) -> None:
    assert summarize(scored, keep=0.37, step=0.2).frame()["samples"].to_list() == [100, 80, 60, 40, 37]


def test_retraining_is_told_every_set_of_kept_samples(scored: ui.Scores) -> None:
    seen: list[int] = []

    def retrain(kept: Any) -> float:
        seen.append(len(kept))
        return len(kept) / 1000

    found = summarize(scored, keep=0.5, step=0.25, retrain=retrain).frame()
    assert seen == [100, 75, 50]
    assert found["retrained"].to_list() == [0.1, 0.075, 0.05]


def test_a_test_set_is_what_the_curve_is_measured_on(scored: ui.Scores) -> None:
    X, y = features(300)
    linearization = scored.origin.run.linearization
    test = linearization.probe(X[140:], np.eye(10)[y[140:]])
    found = summarize(scored, keep=0.9, test=test).frame()
    outputs = scored.origin.run.outputs(test)
    assert found["accuracy"].iloc[0] == (outputs.argmax(axis=1) == y[140:]).mean()


def test_regression_is_judged_by_its_loss() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    table = summarize(ui.score_features(X, y, X, y, training=RIDGE), keep=0.5).frame()
    assert list(table.columns) == ["share", "samples", "loss"]


def test_one_output_for_two_classes_is_judged_by_its_side_of_a_half() -> None:
    X, y = features(140)
    scores = ui.score_features(X[:100], y[:100] > 4, X[100:], y[100:] > 4, training=RIDGE)
    outputs = scores.origin.run.outputs(scores.origin.probe)[:, 0]
    assert summarize(scores, keep=0.9).frame()["accuracy"].iloc[0] == ((outputs > 0.5) == (y[100:] > 4)).mean()


def test_curves_hold_every_strategy_at_every_share(scored: ui.Scores) -> None:
    table = curve(scored, ["iterative", "random"], [0.8, 0.5], step=0.1).frame()
    assert table["strategy"].to_list() == ["iterative"] * 3 + ["random"] * 3
    assert table["share"].to_list() == [1.0, 0.8, 0.5] * 2
    alone = summarize(scored, keep=0.5, step=0.1).frame()
    assert table["accuracy"].iloc[2] == alone["accuracy"].iloc[-1]


def test_the_plot_has_a_line_for_every_strategy(scored: ui.Scores) -> None:
    axes = curve(scored, ["bottom", "top"], [0.5]).plot(Figure().subplots())
    assert [line.get_label() for line in axes.get_lines()] == ["bottom", "top"]


def test_galleries_show_kept_and_removed_apart(scored: ui.Scores) -> None:
    found = summarize(scored, keep=0.5)
    kept, removed = (({shown.sample for shown in gallery.samples}) for gallery in found.galleries())
    assert kept <= set(found.samples)
    assert not removed & set(found.samples)


def test_the_sentence_names_all_three_accuracies(scored: ui.Scores) -> None:
    found = summarize(scored, keep=0.5)
    for accuracy in (*found.frame()["accuracy"].iloc[[0, -1]], found.at_random):
        assert f"{accuracy:.3g}" in found.sentence


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strategy": "best"}, 'strategy: expected "iterative", "bottom"'),
        ({"keep": 1.0}, "at least one must stay and one leave"),
        ({"keep": 0.0}, "at least one must stay and one leave"),
        ({"step": 0.0}, "step: expected the share"),
    ],
)
def test_bad_settings_are_named(scored: ui.Scores, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        summarize(scored, **given)


def test_samples_without_labels_to_judge_by_are_refused() -> None:
    X, y = features(30)
    with pytest.raises(ui.InputError, match="score with labelled validation data, or hand over test"):
        summarize(ui.score_features(X, y, X, training=RIDGE))


def test_only_classes_can_be_balanced() -> None:
    X, _ = features(30)
    with pytest.raises(ui.InputError, match="only classes can be balanced"):
        summarize(ui.score_features(X, X[:, 20], X, X[:, 20], training=RIDGE), balanced=True)


@pytest.fixture(scope="module")
def many() -> Selection:
    """600 digits, seen by more random features than there are digits: kernels stand for these."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    mixed = np.maximum(X / 16 @ np.random.default_rng(0).normal(size=(64, 800)) / 8, 0)
    training = ui.GradientFlow(lr=0.1, time=100.0)
    scores = ui.score_features(mixed[:600], y[:600], mixed[600:800], y[600:800], training=training)
    origin = scores.origin
    return Selection(Subset(origin.run, origin.probe), scores.information, np.zeros(600, dtype=np.intp))


def test_the_leading_directions_keep_nearly_what_exact_scores_keep(many: Selection) -> None:
    assert many.leading is not None
    exact = Selection(many.whole, many.information, many.strata, exact=True)
    assert exact.leading is None
    counts = [540, 480, 420, 360, 300]
    both = zip(*(each.rounds("iterative", counts, seed=0) for each in (many, exact)), strict=True)
    assert min(np.isin(one, other).mean() for one, other in both) > 0.9  # by chance it is 0.5 in the end


def test_directions_that_rank_samples_otherwise_are_not_gone_by(many: Selection) -> None:
    others = np.random.default_rng(0).permutation(many.information)
    assert Selection(many.whole, others, many.strata).leading is None


def test_few_samples_are_scored_exactly(scored: ui.Scores) -> None:
    whole = Subset(scored.origin.run, scored.origin.probe)
    assert Selection(whole, scored.information, np.zeros(100, dtype=np.intp)).leading is None
