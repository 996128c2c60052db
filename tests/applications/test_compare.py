"""Which source is worth more of."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import bootstrap

import uniqueinfo as ui
from tests import problems
from tests.oracles import retraining
from tests.pages.examples import digits, synthetic
from uniqueinfo.applications.compare import compare

GROUPS = list("aaabbbbbcccc")


@pytest.fixture(scope="module")
def scored() -> ui.Scores:
    """Three hundred digits from two sources; the labels of the first fifteen are wrong."""
    return digits(n=300, wrong=15, training=ui.Converged(1e-3))[0]


def _given() -> problems.Problem:
    return problems.problem(n=12, k=2, D=5)


@pytest.mark.parametrize("name", ["descent with decay", "ridge"])
def test_the_whole_group_is_what_training_without_it_loses(name: str) -> None:
    given = _given()
    training = problems.trainings(given, "mean")[name]
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, given.residual_val, training=training)
    table = compare(scores, GROUPS).frame().set_index("group").sort_index()
    members = [[0, 1, 2], [3, 4, 5, 6, 7], [8, 9, 10, 11]]
    truth = retraining.leave_out(given.J, given.residual, given.J_val, given.residual_val, training, members)
    np.testing.assert_allclose(table["whole"], truth.functional, rtol=1e-7)
    np.testing.assert_allclose(table["whole_value"], truth.value, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(table["per_sample"], truth.functional / [3, 5, 4], rtol=1e-7)


def test_means_and_counts_are_pandas_own(scored: ui.Scores) -> None:
    table = compare(scored, "source").frame().set_index("group")
    frame = scored.frame().groupby("source")
    np.testing.assert_allclose(table["information"], frame["functional"].mean()[table.index])
    np.testing.assert_allclose(table["value"], frame["value"].mean()[table.index])
    np.testing.assert_array_equal(table["samples"], frame.size()[table.index])


def test_intervals_are_those_of_scipy_within_the_bootstraps_own_error() -> None:
    scores = synthetic(400)
    assert scores.functional is not None
    values = np.log1p(scores.functional)  # without heavy tails both settle
    table = compare(scores.replaced(functional=values), "label", whole=False, resamples=5000).frame()
    for _, row in table.iterrows():
        own = values[scores.labels == int(row["group"])]
        found = bootstrap((own,), np.mean, n_resamples=5000, method="percentile", rng=np.random.default_rng(1))
        spread = found.standard_error
        assert row["low"] == pytest.approx(found.confidence_interval.low, abs=0.2 * spread)
        assert row["high"] == pytest.approx(found.confidence_interval.high, abs=0.2 * spread)


def test_the_group_with_the_most_information_per_sample_comes_first(scored: ui.Scores) -> None:
    assert compare(scored, "label", whole=False).frame()["information"].is_monotonic_decreasing


def test_a_group_that_stands_out_is_named() -> None:
    scores = synthetic(200, functional=np.r_[np.full(100, 1.0), np.full(100, 3.0)], value=None)
    found = compare(scores, ["old"] * 100 + ["new"] * 100, whole=False)
    assert found.ratio == pytest.approx((3.0, 3.0, 3.0))
    assert found.sentence.startswith("Samples of new carry the most information, on average 3 times that of old")


def test_groups_that_do_not_differ_are_said_not_to() -> None:
    found = compare(synthetic(60, 2), np.arange(60) // 2 % 2, whole=False)
    assert found.ratio[1] <= 1
    assert found.sentence.startswith("No group stands out")


def test_information_that_harms_is_said_to(scored: ui.Scores) -> None:
    wrong = np.where(np.arange(300) < 15, "wrong", "right")
    found = compare(scored, wrong)
    assert found.frame()["group"].iloc[0] == "wrong"
    assert "But they make the validation loss worse: look at the labels of wrong" in found.sentence


def test_copies_carry_little_each_and_much_together() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(6, 4)), 2, axis=0)
    X = np.vstack([X[:6] * [1, 1, 0, 0], rng.normal(size=(6, 4)) * [0, 0, 1, 1]])
    y = X @ np.array([1.0, -1.0, 1.0, -1.0])
    scores = ui.score_features(X, y, X, training=ui.Converged(1e-6))
    table = compare(scores, ["copies"] * 6 + ["others"] * 6).frame()
    copies = table[table["group"] == "copies"]
    assert (copies["per_sample"] > 100 * copies["information"]).all()


def test_without_validation_data_the_weights_are_compared() -> None:
    given = _given()
    scores = ui.score_jacobian(given.J, given.residual, training=ui.Converged(0.1))
    table = compare(scores, GROUPS).frame().set_index("group")
    assert table.loc["a", "information"] == pytest.approx(scores.weight[:3].mean())
    assert "value" not in table


def test_missing_values_are_a_group_of_their_own() -> None:
    assert set(compare(synthetic(9), ["a", None, "b"] * 3, whole=False).frame()["group"]) == {"a", "(none)", "b"}


def test_a_single_sample_has_no_interval() -> None:
    table = compare(synthetic(9), ["x"] + ["y"] * 8, whole=False).frame()
    assert table[table["group"] == "x"]["low"].isna().all()
    assert table[table["group"] == "y"]["low"].notna().all()


def test_the_same_seed_gives_the_same_intervals(scored: ui.Scores) -> None:
    one, two, other = (compare(scored, "source", whole=False, seed=seed).frame() for seed in (0, 0, 1))
    assert one.equals(two)
    assert not one.equals(other)


def test_galleries_show_each_groups_most_informative(scored: ui.Scores) -> None:
    found = compare(scored, "source")
    assert scored.functional is not None
    frame = scored.frame()
    for gallery, group in zip(found.galleries(), found.frame()["group"], strict=True):
        own = frame[frame["source"] == group]
        assert gallery.samples[0].sample == own["functional"].idxmax()


def test_the_plot_has_a_place_for_every_group(scored: ui.Scores) -> None:
    axes = compare(scored, "source").plot(Figure().subplots())
    assert {label.get_text() for label in axes.get_yticklabels()} == {"paper (100)", "screen (200)"}


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("shop", "there is no column 'shop'; there are id, label"),
        (["a", "b"], "expected a group for each of the 9 samples, got 2"),
        (["a"] * 9, "has 1 different values"),
        (range(9), "has 9 different values for 9 samples"),
    ],
)
def test_columns_that_make_no_groups_are_named(by: object, message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        compare(synthetic(9), by, whole=False)  # type: ignore[arg-type]


def test_a_vendor_of_random_labels_is_informative_because_contradicted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y, vendor = (X[:, 0] > 0).astype(int), np.where(np.arange(300) % 4, "good", "bad")
    y = np.where(vendor == "bad", rng.integers(0, 2, 300), y)
    scores = ui.score_features(X, y, X, y, columns={"vendor": vendor})
    found = compare(scores, "vendor")
    assert found.frame()["group"].tolist() == ["bad", "good"]
    assert found.contradicted
    assert "informative because they are contradicted" in found.sentence
