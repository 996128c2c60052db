"""What the report shows, as data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uniqueinfo as ui
from tests.pages.examples import digits, synthetic
from uniqueinfo.pages import SampleViews, summarize, svg
from uniqueinfo.pages.choosing import MOST_ROWS
from uniqueinfo.pages.figures import Stopping


def test_the_answer_names_the_clearest_suspect(digit_scores: ui.Scores) -> None:
    summary = summarize(digit_scores)
    assert summary.suspects is not None
    first = summary.suspects.frame().iloc[0]
    assert f"{first['id']}, labelled {first['label']}, which the rest of the data takes for" in summary.answer


def test_json_holds_no_pictures_and_no_nan(digit_scores: ui.Scores, digit_views: SampleViews) -> None:
    columns = pd.DataFrame({"when": [pd.Timestamp("2020-01-01"), pd.NaT], "gap": [np.nan, 1.0]})
    said = json.dumps(summarize(synthetic(2, 2, columns=columns)).as_json(), allow_nan=False)
    assert "2020-01-01" in said
    assert "data:image" not in json.dumps(summarize(digit_scores, digit_views).as_json(), allow_nan=False)


def test_most_and_least_are_the_ends_of_the_order(digit_scores: ui.Scores) -> None:
    summary = summarize(digit_scores)
    assert digit_scores.functional is not None
    order = np.argsort(-digit_scores.functional)
    np.testing.assert_array_equal(summary.most, order[: len(summary.most)])
    np.testing.assert_array_equal(summary.least, order[::-1][: len(summary.least)])


def test_few_samples_are_not_both_most_and_least() -> None:
    summary = summarize(synthetic(5))
    assert not set(summary.most) & set(summary.least)


def test_the_table_of_many_samples_holds_both_ends_and_suspects() -> None:
    scores = synthetic(3 * MOST_ROWS)
    summary = summarize(scores)
    assert scores.functional is not None
    order = np.argsort(-scores.functional)
    kept = set(summary.table.index)
    assert kept >= {*order[:MOST_ROWS], *order[-MOST_ROWS:], *summary.suspected}
    assert len(kept) <= 2 * MOST_ROWS + 1000


def test_without_validation_information_is_that_of_the_weights() -> None:
    summary = summarize(synthetic(50, functional=None, value=None))
    assert summary.measure == "weight"
    assert any("no validation samples" in caveat for caveat in summary.caveats)


def test_a_poor_judge_is_called_one() -> None:
    outputs = np.random.default_rng(0).normal(size=(60, 3))
    assert any("finds hard" in caveat for caveat in summarize(synthetic(60, loo_outputs=outputs)).caveats)
    assert not any("finds hard" in caveat for caveat in summarize(synthetic(60)).caveats)


def test_what_training_again_said_is_a_caveat(digit_scores: ui.Scores) -> None:
    section = {"name": "validate", "title": "", "sentence": "It agrees.", "table": [], "galleries": [], "figure": ""}
    assert "It agrees." in summarize(digit_scores, answers=[section]).caveats
    assert any("was not measured" in caveat for caveat in summarize(digit_scores).caveats)


def test_numbers_that_were_not_learnt_are_not_judged() -> None:
    scores = synthetic(50, 1, labels=np.linspace(0, 1, 50), targets=np.linspace(0, 1, 50)[:, None])
    summary = summarize(scores)
    assert summary.suspects is not None
    assert summary.suspects.withheld
    assert "explains nothing of the variance" in summary.answer


def test_samples_without_labels_have_no_suspects() -> None:
    summary = summarize(synthetic(50, 1, labels=None))
    assert summary.suspects is None
    assert summary.answer.endswith("of the samples.")


def test_shares_of_groups_add_up(digit_scores: ui.Scores) -> None:
    for comparison in summarize(digit_scores).comparisons:
        shares = comparison.frame()[["share_of_samples", "share_of_information"]].sum()
        np.testing.assert_allclose(shares, 1)


def test_numbers_are_compared_by_quarters(digit_scores: ui.Scores) -> None:
    ink = next(found for found in summarize(digit_scores).comparisons if found.column == "ink")
    assert len(ink.frame()) == 4


def test_a_column_of_all_different_texts_is_not_compared() -> None:
    scores = synthetic(50, columns=pd.DataFrame({"file": [f"{i}.png" for i in range(50)]}))
    assert [found.column for found in summarize(scores).comparisons] == ["label"]


def test_missing_values_are_a_group_of_their_own() -> None:
    columns = pd.DataFrame({"source": ["a", None] * 25})
    (_, source) = summarize(synthetic(50, columns=columns)).comparisons
    assert source.frame().index.tolist() == ["a", "missing"]


def test_the_share_curve_is_that_of_the_sorted_scores() -> None:
    scores = synthetic(4, functional=np.array([1.0, 4.0, 3.0, 2.0]))
    curve = summarize(scores).concentration
    np.testing.assert_allclose(curve.frame()["share_of_information"], [0, 0.4, 0.7, 0.9, 1])
    assert curve.needed_for(0.4) == pytest.approx(0.25)


def test_equal_scores_carry_equal_shares_even_if_all_zero() -> None:
    curve = summarize(synthetic(10, functional=np.zeros(10))).concentration
    assert curve.carried_by(0.5) == pytest.approx(0.5)


def test_every_sample_is_in_the_distribution_once(digit_scores: ui.Scores) -> None:
    figure = summarize(digit_scores).distribution.frame().drop(columns=["from", "to"])
    assert figure.sum().sum() == len(digit_scores)


def test_the_stopping_time_is_the_one_trained_to() -> None:
    scores, _ = digits(training="auto")
    summary = summarize(scores)
    assert summary.stopping is not None
    assert summary.stopping.chosen == scores.settings["training"]["steps"]


def test_the_times_of_a_flow_are_no_whole_numbers() -> None:
    """The curve under cross-entropy begins before the first step; times are drawn as they are, and rounded to say."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    scores = ui.score_features(X, (X[:, 0] > 0).astype(int), X, training=ui.Auto(loss="cross-entropy"), progress=False)
    figure = summarize(scores).stopping
    assert figure is not None
    assert 0 < figure.steps[0] < 1
    assert figure.chosen == scores.settings["training"]["time"]
    assert f"stopped at {figure.chosen:,.0f} steps" in svg.stopping(figure)


def test_a_loss_at_rest_is_not_still_falling() -> None:
    times = np.array([1.0, 10.0, 100.0])
    assert Stopping(times, np.array([0.9, 0.5, 0.4]), chosen=100.0).at_the_end
    assert not Stopping(times, np.array([0.9, 0.5, 0.4999]), chosen=100.0).at_the_end
    assert not Stopping(times, np.array([0.9, 0.4, 0.5]), chosen=10.0).at_the_end


def test_many_classes_share_one_colour() -> None:
    assert list(summarize(synthetic(200, 25)).distribution.counts)[-1] == "others"


def test_effects_are_those_of_the_scores(digit_scores: ui.Scores) -> None:
    assert digit_scores.effects is not None
    sample = int(summarize(digit_scores).most[0])
    validation = [found[0] for found in summarize(digit_scores).effects[sample]]
    assert validation == digit_scores.effects.validation[sample].tolist()


def test_a_picture_that_is_none_is_named(digit_scores: ui.Scores) -> None:
    views = SampleViews(lambda _: np.zeros((2, 2, 7)))
    with pytest.raises(ui.InputError, match=r"the picture of sample \d+ cannot be shown"):
        summarize(digit_scores, views)


def test_every_figure_has_a_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    scores, _ = digits(training="auto")
    summary = summarize(scores)
    assert summary.stopping is not None
    figures: list[Any] = [summary.distribution, summary.concentration, summary.stopping, *summary.comparisons]
    for figure in figures:
        axes = figure.plot()
        assert axes.get_xlabel()
        matplotlib.pyplot.close(axes.figure)


def test_outputs_are_named_after_the_classes_they_stand_for() -> None:
    two = synthetic(9, 2, settings={"classes": ["cat", "dog"]})
    one = two.replaced(loo_outputs=two.loo_outputs[:, 1:], outputs=two.outputs[:, 1:], targets=two.targets[:, 1:])
    assert summarize(two).outputs == ("cat", "dog")
    assert summarize(one).outputs == ("dog",)


def test_groups_named_by_numbers_come_by_size() -> None:
    scores = synthetic(120, 12)
    assert summarize(scores).comparisons[0].frame().index.tolist() == [str(i) for i in range(12)]


def test_names_of_classes_come_from_the_settings() -> None:
    named = synthetic(9).replaced(settings={"classes": ["cat", "dog", "owl"]})
    assert summarize(named).classes == ("cat", "dog", "owl")


def test_a_network_at_chance_level_accuses_nobody() -> None:
    rng = np.random.default_rng(0)
    scores = ui.score_features(rng.normal(size=(200, 5)), rng.integers(0, 2, 200))
    assert "has learnt too little to judge labels: leave-one-out accuracy is" in summarize(scores).answer


def test_caveats_speak_of_the_loss_and_of_the_recording() -> None:
    shown = synthetic(30, settings={"training": {"algorithm": "x", "loss": "cross-entropy"}})
    assert any("trained with cross-entropy" in caveat for caveat in summarize(shown).caveats)
    about = {"recording": {}, "projection_why": "5 of 9 weights stand for all", "fit_error": 0.1}
    shown = synthetic(30, settings={**about, "learnt": {"gradients": 5}})
    told = summarize(shown).caveats
    assert any("the training that was recorded" in caveat for caveat in told)
    assert any("changed a removal by about 0.3" in caveat for caveat in told)
