"""The benchmark of wrong labels, on a problem small enough for a test."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import uniqueinfo as ui
from benchmarks.labels import page
from benchmarks.labels.__main__ import review, run
from benchmarks.labels.mending import ORDERS, decided
from benchmarks.labels.methods import METHODS, shapley_values
from benchmarks.labels.problems import OTHER, PROBLEMS, Draw, Problem, among, planted


def _small(number: int, data: Path, work: Path) -> Draw:
    X, y = load_digits(n_class=3, return_X_y=True)
    return planted(X, y, "even", number, 150)


@pytest.mark.slow
def test_every_method_runs_once_and_the_page_says_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.labels.methods._TREES", 20)
    options = argparse.Namespace(methods=list(METHODS), out=tmp_path, data=tmp_path)
    for _ in range(2):  # the second time everything is there
        run("digits-even", Problem("digits", _small), 0, options)
        monkeypatch.setattr("benchmarks.labels.problems.planted", None)
    table = page.read(tmp_path)
    ours = table[table["method"] == "uniqueinfo"].iloc[0]
    assert ours["auroc"] > 0.98
    assert ours["named_wrong"] >= 8  # of 15; none of the others stands out
    assert ours["named"] <= ours["named_wrong"] + 2
    monkeypatch.setattr("benchmarks.labels.mending.DECISIONS", 20)
    for _ in range(2):
        review("digits-even", Problem("digits", _small), 0, options)
        monkeypatch.setattr("benchmarks.labels.__main__.mended", None)
    mended = json.loads((tmp_path / "mended" / "digits-even-0.json").read_text(encoding="utf-8"))
    assert list(mended) == list(ORDERS)
    assert all(8 <= count <= 15 for count in mended.values())  # 15 are wrong
    page.write_page(tmp_path, tmp_path / "labels.md")
    text = (tmp_path / "labels.md").read_text(encoding="utf-8")
    assert all(method in text for method in [*table["method"], *ORDERS])
    assert (tmp_path / "labels" / "labels.png").stat().st_size > 1000


def test_look_alikes_get_the_class_they_are_closest_to() -> None:
    X, y = load_digits(return_X_y=True)
    draw = planted(X[:300], y[:300], "alike", 0, 300)
    assert draw.wrong.sum() == 30
    assert (draw.given[draw.wrong] != y[:300][draw.wrong]).all()
    np.testing.assert_array_equal(draw.given[~draw.wrong], y[:300][~draw.wrong])


def test_classes_that_hardly_occur_are_left_out() -> None:
    given = np.array([0] * 6 + [3] * 6 + [9])
    right = np.where(given == 3, 9, given)
    draw = among(np.arange(13.0)[:, None], given, right, np.arange(13))
    assert draw.classes == 2
    assert len(draw.X) == 12
    np.testing.assert_array_equal(draw.right, [0] * 6 + [OTHER] * 6)
    np.testing.assert_array_equal(draw.wrong, [False] * 6 + [True] * 6)


def test_shapley_values_are_those_of_every_coalition() -> None:
    from itertools import permutations

    rng = np.random.default_rng(0)
    X, y, count = rng.normal(size=(5, 2)), np.array([0, 1, 0, 1, 1]), 2
    expected = np.zeros(5)
    for judge in range(5):
        others = [one for one in range(5) if one != judge]
        near = sorted(others, key=lambda one: float(np.linalg.norm(X[one] - X[judge])))

        def worth(some: list[int], near: list[int] = near, judge: int = judge) -> float:
            return sum(int(y[one]) == int(y[judge]) for one in [n for n in near if n in some][:count]) / count

        orders = list(permutations(others))
        for order in orders:
            for place, one in enumerate(order):
                gained = worth(list(order[: place + 1])) - worth(list(order[:place]))
                expected[one] += gained / len(orders)
    np.testing.assert_allclose(shapley_values(X, y, count), expected / 5, atol=1e-12)


def test_every_problem_has_a_title() -> None:
    assert len({problem.title for problem in PROBLEMS.values()}) == len(PROBLEMS)


def test_a_review_decides_as_is_right_and_its_queue_goes_on_after_every_decision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.labels.mending.DECISIONS", 12)
    draw = _small(0, Path(), Path())
    draw.right[:4] = OTHER  # of no class: dropped
    scores = ui.score_features(draw.X, draw.given, progress=False)
    order = decided(draw, scores)
    assert len(set(order)) == 12
    assert order[0] == ui.mislabeled(scores, neighbours=True).samples[0]
