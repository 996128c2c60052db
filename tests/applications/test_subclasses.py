"""Groups inside a class that the labels do not tell."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import uniqueinfo as ui
from tests.report.examples import synthetic
from uniqueinfo.applications.subclasses import _coordinates, subclasses

# Real digits: class "low" is 0 with a few sixes among them, class "high" is 1; the labels do not tell the sixes.
PIXELS, DIGIT = load_digits(return_X_y=True)
CHOSEN = np.concatenate([np.flatnonzero(DIGIT == 0), np.flatnonzero(DIGIT == 6)[:12], np.flatnonzero(DIGIT == 1)])
X, HIDDEN = np.column_stack([PIXELS[CHOSEN] / 16, np.ones(len(CHOSEN))]), DIGIT[CHOSEN]
VAL = np.flatnonzero(np.isin(DIGIT, [0, 6, 1]))[::3]
SCORES = ui.score_features(
    X,
    np.where(HIDDEN == 1, "high", "low"),
    np.column_stack([PIXELS[VAL] / 16, np.ones(len(VAL))]),
    training=ui.Converged(1e-3),
    ids=[f"digit-{i}" for i in range(len(X))],
)


def test_a_rare_digit_in_a_class_is_found() -> None:
    best = subclasses(SCORES, "low").score_against(HIDDEN).iloc[0]
    assert best["hidden"] == "6"
    assert best["enrichment"] > 5
    assert best["recall"] > 0.5


def test_purity_and_recall_are_those_counted() -> None:
    found = subclasses(SCORES, "low")
    for row in found.score_against(HIDDEN).to_dict("records"):
        inside = HIDDEN[found.clusters[row["cluster"]].members] == int(row["hidden"])
        whole = HIDDEN[HIDDEN != 1] == int(row["hidden"])
        assert row["count"] == inside.sum()
        assert row["purity"] == inside.mean()
        assert row["recall"] == inside.sum() / whole.sum()
        assert row["enrichment"] == pytest.approx(inside.mean() / whole.mean())


def test_clusters_hold_the_most_informative_samples_of_the_class_each_once() -> None:
    found = subclasses(SCORES, "low", share=0.2)
    low = np.flatnonzero(HIDDEN != 1)
    assert SCORES.functional is not None
    top = low[np.argsort(-SCORES.functional[low])][: round(0.2 * len(low))]
    assert sorted(np.concatenate([cluster.members for cluster in found.clusters])) == sorted(top)


def test_the_most_informative_cluster_comes_first() -> None:
    table = subclasses(SCORES, "low").frame()
    assert table["information"].is_monotonic_decreasing
    assert SCORES.functional is not None
    first = subclasses(SCORES, "low").clusters[0]
    assert first.information == pytest.approx(SCORES.functional[first.members].mean())


def test_every_class_is_looked_at_unless_one_is_named() -> None:
    assert set(subclasses(SCORES).frame()["label"]) == {"low", "high"}
    assert set(subclasses(SCORES, "high").frame()["label"]) == {"high"}


def test_points_are_clustered_along_their_principal_components() -> None:
    samples = np.arange(30)
    unit = X[samples] / np.linalg.norm(X[samples], axis=1, keepdims=True)
    wanted = PCA(20, svd_solver="full").fit_transform(unit)[:, ::-1]
    found = _coordinates(SCORES, samples)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-9)  # equal up to signs


def test_the_number_of_clusters_can_be_given() -> None:
    assert len(subclasses(SCORES, "low", clusters=4).clusters) == 4


def test_the_same_seed_gives_the_same_clusters() -> None:
    one, two = (subclasses(SCORES, "low", seed=3).frame() for _ in range(2))
    assert one.equals(two)


def test_samples_that_are_all_the_same_form_one_cluster() -> None:
    scores = ui.score_features(np.ones((40, 2)), ["a", "b"] * 20, training=ui.Converged(0.1))
    assert len(subclasses(scores, "a", share=0.5).clusters) == 1


def test_galleries_show_the_members() -> None:
    found = subclasses(SCORES, "low")
    for gallery, cluster in zip(found.galleries(), found.clusters, strict=True):
        assert [shown.sample for shown in gallery.samples] == cluster.members[:24].tolist()


def test_the_sentence_and_the_plot_tell_of_the_clusters() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = subclasses(SCORES)
    assert f"{len(found.clusters)} clusters in 2 classes" in found.sentence
    axes = found.plot()
    assert sum(np.shape(dots.get_offsets())[0] for dots in axes.collections) == len(found.clusters)
    matplotlib.pyplot.close(axes.figure)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share": 0.0}, "share: expected"),
        ({"clusters": 1}, "clusters: expected at least 2"),
        ({"label": "zebra"}, "there is no class 'zebra'; there are high, low"),
    ],
)
def test_bad_settings_are_named(given: dict[str, object], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        subclasses(SCORES, **given)  # type: ignore[arg-type]


def test_regression_is_refused() -> None:
    with pytest.raises(ui.InputError, match="inside classes"):
        subclasses(synthetic(10, labels=np.linspace(0, 1, 10)))


def test_hidden_labels_must_be_of_all_samples() -> None:
    with pytest.raises(ui.InputError, match="one label for each"):
        subclasses(SCORES, "low").score_against(HIDDEN[:5])
