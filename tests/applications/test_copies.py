"""Leaks and duplicates are told with the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from uniqueinfo.applications.copies import Copies, look_for_copies
from uniqueinfo.applications.health import health
from uniqueinfo.linearization import comparing

Data = tuple[Any, Any, Any]
LEAKS, TWICE = ("s5", "s9"), 3
WAYS = ("head", "primal", "dual", "kernels")


@pytest.fixture(scope="module")
def data() -> Data:
    """Sixty samples: 3, 50 and 52 are the same; 5 and 9 are validation samples too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30)).astype(np.float32)
    X[50] = X[52] = X[3]
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0)
    return X, y, np.vstack([rng.normal(size=(20, 30)).astype(np.float32), X[5:6], X[9:10]])


def scored(way: str, data: Data) -> ui.Scores:
    X, y, V = data
    ids = [f"s{i}" for i in range(60)]
    training = ui.GradientDescent(0.05, 30)
    if way == "head":
        return ui.score_features(X, y, V, training=training, ids=ids)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(30, 3 if way == "primal" else 16), nn.Tanh(), nn.Linear(3 if way == "primal" else 16, 3)
    )
    projection = {"primal": ui.VerySparse(90), "dual": ui.VerySparse(400), "kernels": None}[way]
    scores = ui.score(model, (X, y), V, training=training, ids=ids, projection=projection)
    assert scores.settings["form"] == ("primal" if way == "primal" else "dual")
    return scores


@pytest.mark.parametrize("way", WAYS)
def test_leaks_and_duplicates_are_counted_and_named(way: str, data: Data) -> None:
    found = look_for_copies(scored(way, data))
    assert (found.leaks, found.exact, found.first, found.twice) == (2, 2, LEAKS, TWICE)


@pytest.mark.parametrize("way", WAYS)
def test_the_question_names_the_same(way: str, data: Data) -> None:
    table = ui.redundancy(scored(way, data)).frame()
    assert set(table[table["where"] == "validation"]["id"]) == set(LEAKS)


def test_where_it_would_take_long_it_is_left_to_the_question(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "AFFORDABLE", 10.0)
    found = look_for_copies(scored("head", data))
    assert (found.leaks, found.twice) == (None, None)
    assert "uniqueinfo redundancy does" in found.sentences[0]


def test_near_copies_of_few_columns_are_chance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    found = look_for_copies(ui.score_features(X[:150], (X[:150, 0] > 0).astype(int), X[150:]))
    assert (found.leaks, found.twice) == (0, 0)


def test_the_page_from_python_says_it(data: Data, tmp_path: Any) -> None:
    page = ui.report(scored("head", data), tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<p class="warn">2 training samples are also in the validation data: s5, s9' in page


def test_trust_that_was_measured_is_told(data: Data) -> None:
    scores = scored("head", data)
    assert "was not measured: uniqueinfo validate does" in health(scores, Copies(0))[0]
    answers = [{"name": "validate", "spearman": {"functional": {"value": 0.95}}}]
    assert "the scores agree closely" in health(scores, Copies(0), answers)[0]
