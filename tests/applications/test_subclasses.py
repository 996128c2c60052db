"""Groups inside a class that the labels do not tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import uniqueinfo as ui
from tests.pages.examples import synthetic
from uniqueinfo.applications.subclasses import _coordinates, subclasses
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class FewSixes:
    """Real digits: class "low" is 0 with a few sixes among them, class "high" is 1; labels do not tell the sixes."""

    X: Floats
    digit: NDArray[np.intp]
    scores: ui.Scores


@pytest.fixture(scope="module")
def few_sixes() -> FewSixes:
    pixels, digit = load_digits(return_X_y=True)
    features = np.column_stack([pixels / 16, np.ones(len(pixels))])
    chosen = np.concatenate([np.flatnonzero(digit == 0), np.flatnonzero(digit == 6)[:12], np.flatnonzero(digit == 1)])
    val = np.flatnonzero(np.isin(digit, [0, 6, 1]))[::3]
    scores = ui.score_features(
        features[chosen],
        np.where(digit[chosen] == 1, "high", "low"),
        features[val],
        training=ui.Converged(1e-3),
        head="paper",
        ids=[f"digit-{i}" for i in range(len(chosen))],
    )
    return FewSixes(features[chosen], digit[chosen], scores)


def test_a_rare_digit_in_a_class_is_found(few_sixes: FewSixes) -> None:
    best = subclasses(few_sixes.scores, "low").score_against(few_sixes.digit).iloc[0]
    assert best["hidden"] == "6"
    assert best["enrichment"] > 5
    assert best["recall"] > 0.5


def test_purity_and_recall_are_those_counted(few_sixes: FewSixes) -> None:
    found = subclasses(few_sixes.scores, "low")
    for row in found.score_against(few_sixes.digit).to_dict("records"):
        inside = few_sixes.digit[found.clusters[row["cluster"]].members] == int(row["hidden"])
        whole = few_sixes.digit[few_sixes.digit != 1] == int(row["hidden"])
        assert row["count"] == inside.sum()
        assert row["purity"] == inside.mean()
        assert row["recall"] == inside.sum() / whole.sum()
        assert row["enrichment"] == pytest.approx(inside.mean() / whole.mean())


def test_clusters_hold_the_most_informative_samples_of_the_class_each_once(few_sixes: FewSixes) -> None:
    found = subclasses(few_sixes.scores, "low", share=0.2)
    low = np.flatnonzero(few_sixes.digit != 1)
    assert few_sixes.scores.functional is not None
    top = low[np.argsort(-few_sixes.scores.functional[low])][: round(0.2 * len(low))]
    assert sorted(np.concatenate([cluster.members for cluster in found.clusters])) == sorted(top)


def test_the_most_informative_cluster_comes_first(few_sixes: FewSixes) -> None:
    table = subclasses(few_sixes.scores, "low").frame()
    assert table["information"].is_monotonic_decreasing
    assert few_sixes.scores.functional is not None
    first = subclasses(few_sixes.scores, "low").clusters[0]
    assert first.information == pytest.approx(few_sixes.scores.functional[first.members].mean())


def test_every_class_is_looked_at_unless_one_is_named(few_sixes: FewSixes) -> None:
    assert set(subclasses(few_sixes.scores).frame()["label"]) == {"low", "high"}
    assert set(subclasses(few_sixes.scores, "high").frame()["label"]) == {"high"}


def test_points_are_clustered_along_their_principal_components(few_sixes: FewSixes) -> None:
    samples = np.arange(30)
    unit = few_sixes.X[samples] / np.linalg.norm(few_sixes.X[samples], axis=1, keepdims=True)
    wanted = PCA(20, svd_solver="full").fit_transform(unit)[:, ::-1]
    found = _coordinates(few_sixes.scores, samples)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-9)  # equal up to signs


def test_the_number_of_clusters_can_be_given(few_sixes: FewSixes) -> None:
    assert len(subclasses(few_sixes.scores, "low", clusters=4).clusters) == 4


def test_the_same_seed_gives_the_same_clusters(few_sixes: FewSixes) -> None:
    one, two = (subclasses(few_sixes.scores, "low", seed=3).frame() for _ in range(2))
    assert one.equals(two)


def test_samples_that_are_all_the_same_form_one_cluster() -> None:
    scores = ui.score_features(np.ones((40, 2)), ["a", "b"] * 20, training=ui.Converged(0.1))
    assert len(subclasses(scores, "a", share=0.5).clusters) == 1


def test_galleries_show_the_members(few_sixes: FewSixes) -> None:
    found = subclasses(few_sixes.scores, "low")
    for gallery, cluster in zip(found.galleries(), found.clusters, strict=True):
        assert [shown.sample for shown in gallery.samples] == cluster.members[:24].tolist()


def test_the_sentence_and_the_plot_tell_of_the_clusters(few_sixes: FewSixes) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = subclasses(few_sixes.scores)
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
def test_bad_settings_are_named(few_sixes: FewSixes, given: dict[str, object], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        subclasses(few_sixes.scores, **given)  # type: ignore[arg-type]


def test_regression_is_refused() -> None:
    with pytest.raises(ui.InputError, match="inside classes"):
        subclasses(synthetic(10, labels=np.linspace(0, 1, 10)))


def test_hidden_labels_must_be_of_all_samples(few_sixes: FewSixes) -> None:
    with pytest.raises(ui.InputError, match="one label for each"):
        subclasses(few_sixes.scores, "low").score_against(few_sixes.digit[:5])
