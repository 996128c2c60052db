"""Scores say what each argument was taken for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import uniqueinfo as ui
from uniqueinfo.training.algorithm import training_words

TRAINING = ui.Converged(0.1)


def features() -> Any:
    return np.random.default_rng(0).normal(size=(12, 2))


def pairs() -> TensorDataset:
    return TensorDataset(torch.from_numpy(features()), torch.arange(12) % 3)


CLASSES = "12 samples; input (2) float64; classes 0 … 2, one output each"
GIVEN: dict[str, tuple[Callable[[], Any], str]] = {
    "pair": (lambda: (features(), np.arange(12) % 3), f"a pair of arrays (inputs, labels): {CLASSES}"),
    "data set": (pairs, f"a data set (TensorDataset): {CLASSES}"),
    "loader": (
        lambda: DataLoader(pairs(), batch_size=4, shuffle=True),
        f"a DataLoader of a data set (TensorDataset), in the data set's own order: {CLASSES}",
    ),
    "numbers": (
        lambda: (features(), np.zeros((12, 3))),
        "a pair of arrays (inputs, labels): 12 samples; input (2) float64; 3 numbers to predict",
    ),
    "several": (
        lambda: (features(), np.tile([[1, 0, 1], [0, 1, 1]], (6, 1))),
        "a pair of arrays (inputs, labels): 12 samples; input (2) float64; 3 labels of each sample, there or not",
    ),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_data_of_a_network_is_told(kind: str) -> None:
    data, told = GIVEN[kind]
    found = ui.score(nn.Linear(2, 3).double(), data(), training=TRAINING).taken_as
    assert found == {"model": "Linear: 9 parameters, 3 outputs", "train": told}


def test_inputs_without_labels_are_told() -> None:
    found = ui.score(nn.Linear(2, 3).double(), pairs(), features(), training=TRAINING).taken_as
    assert found["val"] == "an array: 12 samples; input (2) float64; no labels"


def test_features_and_labels_are_told() -> None:
    X = pd.DataFrame(features(), columns=["width", "height"]).assign(kind=["a", "b"] * 6)
    found = ui.score_features(X, ["no", "yes"] * 6, X, training=TRAINING).taken_as
    assert found == {
        "X": "a table: 12 samples; 2 numbers and 1 category, 4 features",
        "y": "two classes on one output: no, yes",
        "X_val": "a table: 12 samples; 2 numbers and 1 category, 4 features",
    }


def test_what_was_taken_is_kept_with_the_scores_and_shown_as_text(tmp_path: Any) -> None:
    scores = ui.score_features(features(), ["<b>", "c"] * 6, training=TRAINING)
    again = ui.load(scores.save(tmp_path))
    assert again.taken_as == scores.taken_as
    assert "<b>y</b>: two classes on one output: &lt;b&gt;, c" in again._repr_html_()


def test_a_training_that_is_not_known_is_named_as_it_is() -> None:
    assert training_words({"training": {"algorithm": "Elsewhere"}}) == "Elsewhere"
    assert training_words({"training": {"algorithm": "Recorded", "folder": "gone"}}) == "Recorded"
    assert training_words({}) == "unknown"


def test_scores_name_their_training_in_words() -> None:
    scores = ui.score_features(features(), [0, 1] * 6, training=ui.GradientDescent(0.1, 5))
    assert repr(scores) == "Scores of 12 samples: weight; training: 5 steps of gradient descent at rate 0.1"
