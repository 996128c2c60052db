"""How probable it is that each label is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone

import uniqueinfo as ui
from uniqueinfo.applications.suspicion.evidence import Decomposed, Neighbours, Ranked, gaussian, squared_distances
from uniqueinfo.applications.suspicion.judged import as_few
from uniqueinfo.applications.suspicion.stack import _Likelihood, in_order, judge, suspicion
from uniqueinfo.types import Floats, Indices

Blobs = tuple[Floats, Indices, Indices]


def blobs(n: int = 240, wrong: int = 24, classes: int = 3, seed: int = 0) -> Blobs:
    """Features of clear classes, labels of which the first are wrong, and the right ones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    X = 4 * np.eye(classes)[truth] + rng.normal(size=(n, classes))
    given = truth.copy()
    given[:wrong] = (given[:wrong] + rng.integers(1, classes, wrong)) % classes
    return X, given, truth


@pytest.fixture(scope="module")
def planted() -> tuple[Blobs, ui.LabelErrors]:
    found = blobs()
    return found, ui.LabelErrors().fit(found[0], found[1])


def test_left_out_outputs_are_those_of_a_removal() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 5)), rng.normal(size=(20, 2))
    trace = np.square(X).sum()
    run = ui.Linearization.from_features(X, Y).train(ui.Converged(0.01 * trace, reduction="sum"))
    expected = np.concatenate(run.leave_out().outputs())
    np.testing.assert_allclose(Decomposed.of_rows(X).left_out(Y, 0.01), expected, rtol=1e-9, atol=1e-10)


def test_few_samples_and_few_features_decompose_alike() -> None:
    X, Y = np.random.default_rng(0).normal(size=(6, 5)), np.eye(6)
    wide = np.hstack([X, np.zeros((6, 3))])
    np.testing.assert_allclose(
        Decomposed.of_rows(X).left_out(Y, 0.1), Decomposed.of_rows(wide).left_out(Y, 0.1), atol=1e-9
    )


def test_landmarks_that_are_all_samples_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    Y = np.eye(3)[np.arange(30) % 3]
    whole = gaussian(X, 1.0).left_out(Y, 0.01)
    monkeypatch.setattr("uniqueinfo.applications.suspicion.evidence.LANDMARKS", 29)
    np.testing.assert_allclose(gaussian(X, 1.0).left_out(Y, 0.01), whole, atol=0.1)


def test_neighbours_are_the_nearest() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    squares = squared_distances(X, X)
    np.fill_diagonal(squares, np.inf)
    np.testing.assert_array_equal(Neighbours.of(X, 4).numbers, np.argsort(squares, axis=1)[:, :4])


def test_few_points_of_many_dimensions_lie_as_far_apart_in_few() -> None:
    X = np.random.default_rng(0).normal(size=(12, 300))
    found = as_few(X)
    assert found.shape == (12, 12)
    np.testing.assert_allclose(squared_distances(found, found), squared_distances(X, X), atol=1e-11)  # of 600


def test_rates_of_mistakes_are_found_where_the_model_is_true() -> None:
    rng = np.random.default_rng(0)
    opinions = np.log(rng.dirichlet([0.2, 0.2, 0.2], size=2000))
    truth = np.array([rng.choice(3, p=p) for p in np.exp(opinions)])
    wrong = rng.random(2000) < 0.15
    given = np.where(wrong, (truth + rng.integers(1, 3, 2000)) % 3, truth)
    found = judge([opinions], given, 3)
    assert found.fit.hold == np.inf
    np.testing.assert_allclose(found.noise.diagonal(), 0.85, atol=0.03)
    assert found.fit.parameters[0] == pytest.approx(1, abs=0.15)
    for low, high in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0)):
        some = (found.wrong >= low) & (found.wrong <= high)
        share = found.wrong[some].mean()
        by_chance = 3 * np.sqrt(share * (1 - share) / some.sum())
        assert wrong[some].mean() == pytest.approx(share, abs=by_chance + 0.02)


def test_wrong_labels_have_the_least_quality(planted: tuple[Blobs, ui.LabelErrors]) -> None:
    _, found = planted
    assert (np.argsort(found.label_quality_)[:24] < 24).mean() > 0.9


def test_the_count_is_near_the_truth_and_its_interval_holds_it(planted: tuple[Blobs, ui.LabelErrors]) -> None:
    _, found = planted
    assert found.count_.value == pytest.approx(24, rel=0.15)
    assert found.count_.low <= 24 <= found.count_.high
    assert found.sentence.startswith("About 2")


def test_the_right_label_is_suggested(planted: tuple[Blobs, ui.LabelErrors]) -> None:
    (_, _, truth), found = planted
    assert (found.issues_["predicted_label"] == truth).mean() > 0.97


def test_issues_have_the_columns_that_datalab_knows(planted: tuple[Blobs, ui.LabelErrors]) -> None:
    (_, given, _), found = planted
    columns = ["is_label_issue", "label_score", "given_label", "predicted_label"]
    assert list(found.issues_.columns[:4]) == columns
    np.testing.assert_array_equal(found.issues_["given_label"], given)


def test_the_same_seed_gives_the_same_bits(planted: tuple[Blobs, ui.LabelErrors]) -> None:
    (X, given, _), found = planted
    again = clone(ui.LabelErrors()).fit(X, given)
    np.testing.assert_array_equal(again.label_quality_, found.label_quality_)
    assert again.count_ == found.count_


def test_a_rare_class_is_not_accused_of_being_rare() -> None:
    X, given, _ = blobs(200, wrong=0)
    rng = np.random.default_rng(1)
    rare = np.array([-4.0, -4.0, -4.0]) + rng.normal(size=(6, 3))
    found = ui.LabelErrors().fit(np.vstack([X, rare]), np.append(given, [7] * 6))
    assert not found.issues_["is_label_issue"][200:].any()


def test_copies_with_other_labels_and_samples_unlike_all_are_marked() -> None:
    X, given, _ = blobs(80, wrong=0)
    X[1], given[1] = X[0], (given[0] + 1) % 3
    X[2] = 60.0
    table = ui.LabelErrors().fit(X, given).issues_
    assert table.index[table["is_conflicting"]].tolist() == [0, 1]
    assert table["outlier_score"].idxmin() == 2
    assert table["is_outlier_issue"][2]


def test_several_labels_of_a_sample_are_judged_one_by_one() -> None:
    X, _, truth = blobs(150, wrong=0)
    labels = np.eye(3, dtype=int)[truth]
    labels[3] = 1 - labels[3]
    found = ui.LabelErrors().fit(X, labels)
    assert int(found.label_quality_.argmin()) == 3
    assert found.issues_["predicted_label"][3] == np.eye(3, dtype=int)[truth[3]].tolist()


def test_numbers_far_from_what_the_others_say_are_outliers() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=120)
    y[:4] += [9, -9, 12, -12]
    found = ui.LabelErrors().fit(X, y)
    assert np.flatnonzero(found.issues_["is_label_issue"]).tolist() == [0, 1, 2, 3]


def test_names_of_classes_and_samples_are_kept() -> None:
    X, given, _ = blobs(60, wrong=3)
    frame = pd.DataFrame(X, index=[f"row {number}" for number in range(60)])
    found = ui.LabelErrors(precision=0.5).fit(frame, np.array(["ant", "bee", "cow"])[given])
    assert found.issues_.index[0] == "row 0"
    assert set(found.issues_["predicted_label"]) <= {"ant", "bee", "cow"}


@pytest.mark.parametrize(
    ("y", "settings", "message"),
    [
        ([0] * 20, {}, "nothing to tell apart"),
        ([0, 1] * 10, {"precision": 1.5}, "precision: expected a share"),
        ([[1, 1]] * 20, {}, "every column is all 0 or all 1"),
        ([0, 1, 2], {}, "expected one label for each of the 20 samples"),
    ],
)
def test_bad_input_is_named(y: list[object], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        ui.LabelErrors(**settings).fit(np.random.default_rng(0).normal(size=(20, 2)), y)


def test_datalab_finds_the_same(planted: tuple[Blobs, ui.LabelErrors]) -> None:
    pytest.importorskip("cleanlab.datalab.internal.issue_manager")
    datalab = pytest.importorskip("cleanlab").Datalab
    from uniqueinfo.applications.suspicion.datalab import UniqueinfoLabel

    (X, given, _), found = planted
    lab = datalab({"X": X, "y": given}, label_name="y", verbosity=0)
    lab.find_issues(issue_types={UniqueinfoLabel.issue_name: {"features": X}})
    table = lab.get_issues("uniqueinfo_label")
    np.testing.assert_allclose(table["uniqueinfo_label_score"], found.label_quality_)
    np.testing.assert_array_equal(table["is_uniqueinfo_label_issue"], found.issues_["is_label_issue"])
    assert lab.get_info("uniqueinfo_label")["predicted_label"] == found.issues_["predicted_label"].tolist()


def test_labels_that_go_to_one_other_class_are_known_by_pairs() -> None:
    rng = np.random.default_rng(0)
    opinions = np.log(rng.dirichlet([0.1] * 4, size=1500))
    truth = np.array([rng.choice(4, p=p) for p in np.exp(opinions)])
    wrong = (truth == 0) & (rng.random(1500) < 0.3)  # class 0 is called 1, and no other goes wrong
    found = judge([opinions], np.where(wrong, 1, truth), 4)
    assert found.fit.hold < np.inf
    expected = np.eye(4)
    expected[0] = [0.7, 0.3, 0.0, 0.0]
    np.testing.assert_allclose(found.noise, expected, atol=0.05)
    assert found.wrong.sum() == pytest.approx(wrong.sum(), rel=0.2)


def test_probabilities_are_handed_out_in_the_order_of_suspicion() -> None:
    rng = np.random.default_rng(0)
    truth, given = rng.dirichlet([0.5] * 4, size=50), rng.integers(4, size=50)
    by_hand = []
    for p, label in zip(truth, given, strict=True):
        others = np.delete(p, label)
        by_hand.append(others.sum() * others.max() / p[label] ** 2)
    np.testing.assert_allclose(suspicion(truth, given), np.log(by_hand))
    wrong = in_order(1 - truth[np.arange(50), given], np.array(by_hand))
    assert (np.argsort(wrong) == np.argsort(by_hand)).all()


def test_votes_are_weighed_by_the_places_of_either_among_the_others_neighbours() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
    expected = []
    for i in range(30):
        weights = np.zeros(30)
        for j in range(30):
            if i != j:
                for one, other in ((i, j), (j, i)):
                    apart = np.linalg.norm(X - X[one], axis=1)
                    place = sum(apart[k] <= apart[other] for k in range(30) if k != one)
                    weights[j] += 1 / max(5, place)
        expected.append(weights @ Y / weights.sum())
    np.testing.assert_allclose(Ranked.of(Neighbours.of(X, 29)).votes(Y), expected)


def test_mistakes_on_hard_samples_lie_within_the_interval_of_the_count() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    X = np.where(truth == 0, -1.0, 1.0)[:, None] + 0.8 * rng.normal(size=(400, 1))
    hard = np.argsort(np.abs(X[:, 0]))[:100]
    given = truth.copy()
    given[rng.choice(hard, 40, replace=False)] ^= 1
    found = ui.LabelErrors().fit(X, given)
    assert found.count_.value < 30  # hard samples do not tell mistakes
    assert found.count_.low <= 40 <= found.count_.high
    assert "up to" in found.sentence


@pytest.mark.parametrize("hold", [np.inf, 5.0])
def test_the_slope_of_the_likelihood_is_that_of_its_differences(hold: float) -> None:
    rng = np.random.default_rng(0)
    opinions, given = [np.log(rng.dirichlet(np.ones(4), size=40)) for _ in range(2)], rng.integers(4, size=40)
    problem, weight = _Likelihood.of(opinions, given, 4), rng.uniform(0, 2, size=40)
    free = rng.normal(size=2 + 4 + (1 if hold == np.inf else 4 + 16))
    by_differences = approx_fprime(free, lambda point: problem.loss(hold, point, weight)[0], 1e-6)
    np.testing.assert_allclose(problem.loss(hold, free, weight)[1], by_differences, atol=1e-6)
