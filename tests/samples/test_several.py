"""Several labels, or several numbers, for each sample: scored like any others, and asked about in plain words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray

import uniqueinfo as ui
from tests.oracles.compare import close
from uniqueinfo.pages import summarize
from uniqueinfo.pages.html import render
from uniqueinfo.types import Floats


@pytest.fixture(scope="module")
def features() -> Floats:
    """The last two samples are the same."""
    found = np.random.default_rng(0).normal(size=(40, 5))
    found[39] = found[38]
    return found


@pytest.fixture(scope="module")
def tags(features: Floats) -> NDArray[np.int64]:
    """Which of three tags each sample has."""
    return (features[:, :3] > 0).astype(np.int64)


@pytest.fixture(scope="module")
def scored(features: Floats, tags: NDArray[np.int64]) -> ui.Scores:
    return ui.score_features(features, tags, features[30:], tags[30:], effects=2)


def test_several_labels_are_as_many_outputs(features: Floats, tags: NDArray[np.int64], scored: ui.Scores) -> None:
    wanted = ui.score_features(features, tags.astype(float), features[30:], tags[30:].astype(float))
    close(scored.functional, wanted.functional, rtol=1e-12)
    assert scored.outputs.shape == (40, 3)


def test_columns_of_a_table_are_labels_too(features: Floats, tags: NDArray[np.int64], scored: ui.Scores) -> None:
    frame = pd.DataFrame(tags, columns=["cat", "dog", "cow"])
    close(ui.score_features(features, frame, features[30:], frame[30:]).value, scored.value, rtol=1e-12)


@pytest.mark.parametrize("loss", ["mse", "logistic"])
def test_a_network_takes_several_labels_as_it_takes_floats(
    features: Floats, tags: NDArray[np.int64], loss: str
) -> None:
    network = torch.nn.Linear(5, 3).double()
    training = ui.Converged(0.1, loss=loss)
    found = ui.score(network, (features, tags), (features[30:], tags[30:]), training=training)
    floats = tags.astype(float)
    wanted = ui.score(network, (features, floats), (features[30:], floats[30:]), training=training)
    close(found.functional, wanted.functional, rtol=1e-12)
    close(found.value, wanted.value, rtol=1e-12)
    assert found.loo_probabilities().shape == (40, 3)


def test_a_network_of_other_outputs_than_labels_is_refused(features: Floats, tags: NDArray[np.int64]) -> None:
    with pytest.raises(ui.InputError, match="a matrix of 0 and 1 with 4 columns"):
        ui.score(torch.nn.Linear(5, 4).double(), (features, tags))


def test_rows_with_one_label_each_are_classes(features: Floats) -> None:
    classes = features[:, :3].argmax(axis=1)
    found = ui.mislabeled(ui.score_features(features, np.eye(3, dtype=int)[classes]), noise_rate=0.2)
    assert found.frame(everyone=True).sort_values("id")["label"].tolist() == [str(c) for c in classes]


def test_questions_about_classes_say_why_they_have_no_answer(features: Floats, tags: NDArray[np.int64]) -> None:
    with pytest.raises(ui.InputError, match="numbers to predict"):
        ui.subclasses(ui.score_features(features, tags.astype(float)))
    with pytest.raises(ui.InputError, match="several labels for each sample"):
        ui.summarize(ui.score_features(features, tags, features, tags), balanced=True)


def test_sub_classes_are_looked_for_among_the_samples_of_each_label(scored: ui.Scores, tags: NDArray[np.int64]) -> None:
    found = ui.subclasses(scored, "1", share=1.0)
    inside = np.sort(np.concatenate([cluster.members for cluster in found.clusters]))
    np.testing.assert_array_equal(inside, np.flatnonzero(tags[:, 1]))


def test_duplicates_are_found_with_their_labels(scored: ui.Scores, tags: NDArray[np.int64]) -> None:
    table = ui.redundancy(scored).frame()
    first = table[table["where"] == "train"].iloc[0]
    had = " + ".join(str(tag) for tag in np.flatnonzero(tags[38])) or "none"
    assert (first["id"], first["other"], first["label"], first["other_label"]) == (38, 39, had, had)


def test_samples_of_the_same_labels_are_compared(scored: ui.Scores) -> None:
    assert "0 + 2" in ui.compare(scored, "label").frame()["group"].tolist()


def test_a_page_is_written(scored: ui.Scores) -> None:
    assert "0 + 2" in render(summarize(scored))


def test_scores_of_several_labels_come_back_from_disk(
    scored: ui.Scores, tags: NDArray[np.int64], tmp_path: Path
) -> None:
    found = ui.load(scored.save(tmp_path)).labels
    assert found is not None
    np.testing.assert_array_equal(found, tags)


@pytest.mark.parametrize("change", [lambda y: y + 1, lambda y: y.astype(str)])
def test_rows_of_other_labels_are_refused(
    features: Floats, tags: NDArray[np.int64], change: Callable[[Any], Any]
) -> None:
    with pytest.raises(ui.InputError, match=r"y: labels of shape \(\d+, 3\) are several for each sample"):
        ui.score_features(features, change(tags))


def test_validation_labels_are_as_many_as_those_of_training(features: Floats, tags: NDArray[np.int64]) -> None:
    with pytest.raises(ui.InputError, match=r"y_val: is of shape \(40,\), and y of shape \(40, 3\)"):
        ui.score_features(features, tags, features, tags[:, 0])


MISSING: dict[str, Callable[[], object]] = {
    "series": lambda: pd.Series(["a", "b", None, "a"] * 10),
    "list with None": lambda: ["a", "b", None, "a"] * 10,
    "list with NaN": lambda: ["a", "b", float("nan"), "a"] * 10,
    "objects": lambda: np.array(["a", "b", None, "a"] * 10, dtype=object),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING.keys())
def test_a_missing_label_is_no_class(features: Floats, labels: Callable[[], object]) -> None:
    with pytest.raises(ui.InputError, match="y: sample 2 has no label"):
        ui.score_features(features, labels())


def test_dates_are_no_labels(features: Floats) -> None:
    with pytest.raises(ui.InputError, match="y: labels are dates"):
        ui.score_features(features, pd.Series(pd.date_range("2020-01-01", periods=40)))
