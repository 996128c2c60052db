"""Which samples are there twice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import uniqueinfo as ui
from tests.oracles import retraining
from tests.pages.examples import digits
from tests.problems import problem, trainings
from uniqueinfo.applications.redundancy import redundancy
from uniqueinfo.linearization import points
from uniqueinfo.linearization.points import Points, closest_pairs
from uniqueinfo.training import Reduction
from uniqueinfo.types import Floats


@dataclass(frozen=True)
class Data:
    """Sixty samples: 3, 50 and 52 are the same, 7 and 51 too, 40 is nearly 9; 5 and 9 are validation samples too."""

    X: Floats
    y: NDArray[np.str_]
    X_val: Floats
    y_val: NDArray[np.str_]


@pytest.fixture(scope="module")
def data() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    X[50] = X[3]
    X[51] = X[7]
    X[52] = X[3]
    X[40] = X[9] + 0.01 * rng.normal(size=30)
    y = np.where(np.arange(60) % 2, "odd", "even")
    y[50] = y[3]
    return Data(X, y, np.vstack([rng.normal(size=(20, 30)), X[5:6], X[9:10]]), np.array(["odd"] * 22))


@pytest.fixture(scope="module")
def scored(data: Data) -> ui.Scores:
    ids = [f"s{i}" for i in range(60)]
    return ui.score_features(data.X, data.y, data.X_val, data.y_val, training=ui.Converged(0.01), head="paper", ids=ids)


def _pairs(table: object, where: str, kind: str) -> set[tuple[str, str]]:
    rows = table[(table["where"] == where) & (table["kind"] == kind)]  # type: ignore[index]
    return set(zip(rows["id"].astype(str), rows["other"].astype(str), strict=True))


def test_every_exact_duplicate_is_found_and_no_other(scored: ui.Scores) -> None:
    assert _pairs(redundancy(scored).frame(), "train", "exact") == {
        ("s3", "s50"),
        ("s3", "s52"),
        ("s50", "s52"),
        ("s7", "s51"),
    }


def test_near_duplicates_are_told_from_exact_ones(scored: ui.Scores) -> None:
    assert _pairs(redundancy(scored).frame(), "train", "near") == {("s9", "s40")}


def test_training_samples_in_the_validation_data_are_named(scored: ui.Scores) -> None:
    table = redundancy(scored).frame()
    assert _pairs(table, "validation", "exact") == {("s5", "20"), ("s9", "21")}
    assert _pairs(table, "validation", "near") == {("s40", "21")}


def test_duplicates_with_different_labels_are_conflicts(scored: ui.Scores) -> None:
    rows = {(row["id"], row["other"]): row for row in redundancy(scored).frame().to_dict("records")}
    assert not rows["s3", "s50"]["conflict"]
    assert rows["s3", "s52"]["conflict"]
    assert (rows["s3", "s52"]["label"], rows["s3", "s52"]["other_label"]) == ("odd", "even")
    assert "different labels" in redundancy(scored).sentence


@pytest.mark.parametrize(("n", "k", "D"), [(9, 2, 40), (16, 2, 9)])  # dual and primal
def test_distances_are_those_of_the_kernel(n: int, k: int, D: int) -> None:
    given = problem(n, k, D)
    origin = ui.score_jacobian(given.J, given.residual, training=ui.Converged(0.1)).origin
    found = closest_pairs(Points.of_training(origin), most=n * n)
    truth = _distances(given.J)
    assert len(found.first) == n * (n - 1) // 2
    np.testing.assert_allclose(found.distance, truth[found.first, found.second], rtol=1e-9)
    np.testing.assert_allclose(found.nearest, np.where(np.eye(n) > 0, np.inf, truth).min(axis=1), rtol=1e-9)
    assert (np.diff(found.distance) >= 0).all()


def _distances(J: Floats) -> Floats:
    flat = J.reshape(len(J), -1)
    length = np.linalg.norm(flat, axis=1)
    found: Floats = np.linalg.norm(flat[:, None] - flat, axis=2) / np.sqrt(length[:, None] * length)
    return found


def test_small_blocks_find_the_same_pairs(scored: ui.Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = closest_pairs(Points.of_training(scored.origin), most=25)
    monkeypatch.setattr(points, "_BLOCK", 7)
    parts = closest_pairs(Points.of_training(scored.origin), most=25)
    assert set(zip(parts.first, parts.second, strict=True)) == set(zip(whole.first, whole.second, strict=True))
    np.testing.assert_allclose(parts.nearest, whole.nearest, atol=1e-7)  # rounding of squares near zero


@pytest.mark.parametrize("name", ["descent", "ridge", "minimum norm"])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_the_information_of_a_pair_is_that_of_training_again_without_both(name: str, reduction: Reduction) -> None:
    given = problem(10, 2, 7)
    training = trainings(given, reduction)[name]
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    table = redundancy(scores, near=1e9).frame()
    found = table[table["where"] == "train"].astype({"id": int, "other": int})
    pairs = found[["id", "other"]].to_numpy().tolist()
    truth = partial(retraining.leave_out, given.J, given.residual, given.J_val, given.residual_val, training)
    both, one = truth(pairs).functional, truth([[i] for i in range(10)]).functional
    assert len(found) == 45
    np.testing.assert_allclose(found["together"], both, rtol=1e-6)
    wanted = one[found["id"]] + one[found["other"]] - both
    np.testing.assert_allclose(found["sum_minus_together"], wanted, atol=1e-7 * both.max())


def test_each_of_two_duplicates_stands_in_for_the_other(scored: ui.Scores) -> None:
    table = redundancy(scored).frame()
    (row,) = table[(table["id"] == "s7") & (table["other"] == "s51")].to_dict("records")
    assert row["together"] > 2 * (row["functional"] + row["other_functional"])


def test_without_validation_data_the_weights_information_is_compared(data: Data) -> None:
    scores = ui.score_features(data.X, data.y, training=ui.Converged(0.01))
    table = redundancy(scores).frame()
    assert set(table["where"]) == {"train"}
    np.testing.assert_allclose(table["weight"], scores.weight[table["id"].astype(int)], rtol=1e-9)


def test_no_more_pairs_are_kept_than_asked_for(scored: ui.Scores) -> None:
    found = redundancy(scored, most=2)
    assert (found.frame()["where"] == "train").sum() == 2
    assert "There may be more" in found.sentence


def test_data_without_duplicates_is_said_to_have_none(data: Data) -> None:
    scores = ui.score_features(data.X[:30], data.y[:30], data.X_val[:10], training=ui.Converged(0.1))
    found = redundancy(scores, near=0.1)
    assert len(found.frame()) == 0
    assert found.sentence == "No two samples are duplicates of each other."
    assert found.galleries() == ()


def test_blank_samples_are_duplicates_of_each_other_alone(data: Data) -> None:
    blank = data.X.copy()
    blank[[10, 20]] = 0
    scores = ui.score_features(blank[:40], data.y[:40], training=ui.Converged(0.1))
    assert _pairs(redundancy(scores, near=0.1).frame(), "train", "exact") == {("10", "20")}


def test_galleries_show_both_samples_of_a_pair(scored: ui.Scores) -> None:
    galleries = {gallery.title: gallery.samples for gallery in redundancy(scored).galleries()}
    leaked = galleries["A training sample, and the same in the validation data"]
    assert {(shown.sample, shown.split) for shown in leaked} == {
        (5, "train"),
        (20, "validation"),
        (9, "train"),
        (21, "validation"),
    }


def test_the_plot_shows_every_sample() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    scores, _ = digits(n=80)
    axes = redundancy(scores).plot()
    assert sum(bar.get_height() for bars in axes.containers for bar in bars) == 80
    matplotlib.pyplot.close(axes.figure)


@pytest.mark.parametrize(("given", "message"), [({"near": -1.0}, "near: expected"), ({"most": 0}, "most: expected")])
def test_bad_settings_are_named(scored: ui.Scores, given: dict[str, float], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        redundancy(scored, **given)  # type: ignore[arg-type]


def test_validation_samples_go_by_their_own_ids(data: Data) -> None:
    X, X_val = pd.DataFrame(data.X), pd.DataFrame(data.X_val, index=[f"photo {j}" for j in range(22)])
    scores = ui.score_features(X, data.y, X_val, data.y_val, training=ui.Converged(0.01), head="paper")
    assert ("5", "photo 20") in _pairs(redundancy(scores).frame(), "validation", "exact")
