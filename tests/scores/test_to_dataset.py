"""Data sets of Hugging Face: features and labels go in, scores come out as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import uniqueinfo as ui

EMBEDDED, FLAT = ["embedding", "label"], ["width", "height", "kind", "label"]


@pytest.fixture(scope="module")
def hugging_face() -> Any:
    return pytest.importorskip("datasets", reason="Hugging Face datasets is not installed")


@pytest.fixture(scope="module")
def flowers(hugging_face: Any) -> Any:
    rng = np.random.default_rng(0)
    kind = np.arange(24) % 3
    X = 2 * np.eye(3)[kind] + rng.normal(size=(24, 3))
    features = hugging_face.Features(
        {
            "embedding": hugging_face.List(hugging_face.Value("float64")),
            "width": hugging_face.Value("float64"),
            "height": hugging_face.Value("float64"),
            "kind": hugging_face.Value("string"),
            "label": hugging_face.ClassLabel(names=["iris", "lily", "rose"]),
        }
    )
    columns = {"embedding": X.tolist(), "width": X[:, 0], "height": X[:, 1], "kind": ["a", "b"] * 12, "label": kind}
    return hugging_face.Dataset.from_dict(columns, features=features)


def test_an_embedding_and_its_label_column_are_scored_as_arrays(flowers: Any) -> None:
    given = flowers.select_columns(EMBEDDED)
    scores = ui.score_features(given, "label", given)
    X, y = np.array(flowers["embedding"]), np.array(["iris", "lily", "rose"])[flowers["label"]]
    expected = ui.score_features(X, y, X, y)
    np.testing.assert_array_equal(scores.functional, expected.functional)
    np.testing.assert_array_equal(scores.value, expected.value)
    assert scores.settings["classes"] == ["iris", "lily", "rose"]


def test_columns_of_numbers_and_categories_are_a_table(flowers: Any) -> None:
    given = flowers.select_columns(FLAT)
    scores = ui.score_features(given, "label", given.select(range(5)))
    table = given.to_pandas()[FLAT[:3]]
    labels = np.array(["iris", "lily", "rose"])[flowers["label"]]
    expected = ui.score_features(table, labels, table[:5])
    np.testing.assert_array_equal(scores.functional, expected.functional)


def test_several_label_columns_are_several_labels(flowers: Any) -> None:
    several = flowers.select_columns(["embedding"]).add_column("wet", [0, 1] * 12).add_column("dry", [1, 1, 0] * 8)
    scores = ui.score_features(several, ["wet", "dry"])
    np.testing.assert_array_equal(scores.targets, np.column_stack([[0, 1] * 12, [1, 1, 0] * 8]))


def test_scores_are_columns_beside_the_data_sets_own(flowers: Any) -> None:
    scores = ui.score_features(flowers.select_columns(EMBEDDED), "label")
    found = scores.to_dataset(flowers)
    assert found.column_names == [*flowers.column_names, "weight", "loo_loss", "loo_outputs"]
    np.testing.assert_array_equal(found["weight"], scores.weight)
    np.testing.assert_array_equal(found["loo_outputs"], scores.loo_outputs)
    assert flowers.features["label"] == found.features["label"]


def test_scores_of_a_network_go_beside_its_data_set(flowers: Any) -> None:
    given = flowers.select_columns(EMBEDDED).with_format("torch")
    torch.manual_seed(0)
    scores = ui.score(torch.nn.Linear(3, 3), given, given)
    found = scores.to_dataset(flowers, prefix="ui_")
    np.testing.assert_array_equal(found["ui_functional"], scores.functional)


def test_without_a_data_set_the_table_is_one(flowers: Any) -> None:
    scores = ui.score_features(flowers.select_columns(EMBEDDED), "label")
    found = scores.to_dataset()
    assert found["label"][:3] == ["iris", "lily", "rose"]
    np.testing.assert_array_equal(found["weight"], scores.weight)


def test_a_data_set_of_other_samples_is_refused(flowers: Any) -> None:
    scores = ui.score_features(flowers.select_columns(EMBEDDED), "label")
    with pytest.raises(ui.InputError, match=r"23 rows.*scores of 24"):
        scores.to_dataset(flowers.select(range(23)))
    with pytest.raises(ui.InputError, match=r"row 0 has label rose.*iris"):
        scores.to_dataset(flowers.select(range(23, -1, -1)))
    with pytest.raises(ui.InputError, match="weight already; name a prefix"):
        scores.to_dataset(flowers.add_column("weight", [0] * 24))
    with pytest.raises(ui.InputError, match="got dict"):
        scores.to_dataset({})


def test_rows_of_different_lengths_are_refused(hugging_face: Any) -> None:
    ragged = hugging_face.Dataset.from_dict({"embedding": [[1.0], [1.0, 2.0, 3.0]], "label": [0, 1]})
    with pytest.raises(ui.InputError, match="different lengths"):
        ui.score_features(ragged, "label")


def test_what_cannot_be_features_is_named(flowers: Any, hugging_face: Any) -> None:
    with pytest.raises(ui.InputError, match="did you mean 'label'"):
        ui.score_features(flowers, "lable")
    with pytest.raises(ui.InputError, match="'embedding' is no number"):
        ui.score_features(flowers, "label")
    with pytest.raises(ui.InputError, match="no column beside"):
        ui.score_features(flowers.select_columns(["label"]), "label")
    with pytest.raises(ui.InputError, match="choose one of"):
        ui.score_features(hugging_face.DatasetDict(train=flowers), "label")
    without = flowers.select_columns(EMBEDDED).map(
        lambda row, n: {"label": -1 if n == 4 else row["label"]}, with_indices=True
    )
    with pytest.raises(ui.InputError, match="sample 4 has label -1"):
        ui.score_features(without, "label")
