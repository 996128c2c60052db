"""From arrays to a table of scores, and mistakes on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import uniqueinfo as ui
from tests.oracles import retraining
from tests.oracles.compare import close
from tests.problems import problem
from tests.scoring.problems import contents

RIDGE = ui.Converged(weight_decay=1e-2)


def features(n: int = 30, p: int = 5, classes: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(n, p)), rng.normal(size=(8, p))
    return {"X": X, "y": np.arange(n) % classes, "X_val": X_val, "y_val": np.arange(8) % classes}


def test_scores_of_a_jacobian_equal_training_again() -> None:
    given = problem(15, 2, 9)
    training = ui.GradientDescent(0.5 * 15 / given.largest, 40)
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, given.residual_val, training=training)
    groups = [[i] for i in range(15)]
    truth = retraining.leave_out(given.J, given.residual, given.J_val, given.residual_val, training, groups)
    close(scores.functional, truth.functional, rtol=1e-6)
    close(scores.weight, truth.weight, rtol=1e-6)
    close(scores.value, truth.value, rtol=1e-6)
    close(scores.loo_outputs, np.concatenate(truth.outputs), atol=1e-8)


def test_initial_outputs_are_counted_in() -> None:
    given = problem(10, 2, 5)
    start = np.full((10, 2), 3.0)
    plain = ui.score_jacobian(given.J, given.residual, training=RIDGE)
    moved = ui.score_jacobian(given.J, given.residual, training=RIDGE, initial=start)
    close(moved.loo_outputs, plain.loo_outputs + start, rtol=1e-14)
    np.testing.assert_array_equal(moved.weight, plain.weight)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["c", "a", "b"]])
@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_classes_become_one_output_each(labels: list[Any], kind: Any) -> None:
    scores = ui.score_features(features()["X"], kind(10 * labels), training=RIDGE)
    assert scores.loo_outputs.shape == (30, 3)
    np.testing.assert_array_equal(scores.targets.sum(axis=1), 1)


def test_two_classes_share_one_output_of_zero_and_one() -> None:
    scores = ui.score_features(features()["X"], np.where(np.arange(30) % 2, 9, 4), training=RIDGE)
    np.testing.assert_array_equal(scores.targets[:, 0], np.arange(30) % 2)


def test_floats_are_regression_targets() -> None:
    y = np.linspace(0, 1, 60).reshape(30, 2)
    np.testing.assert_array_equal(ui.score_features(features()["X"], y, training=RIDGE).targets, y)


def test_one_class_only_is_scored() -> None:
    scores = ui.score_features(
        features()["X"], np.zeros(30, dtype=int), features()["X_val"], training=RIDGE, head="paper"
    )
    assert scores.functional is not None
    assert not scores.functional.any()  # every target is the starting output: there was nothing to learn


def test_scores_come_as_float32_tensors_came_in() -> None:
    given = features()
    single: dict[str, Any] = {
        name: np.asarray(part, np.float32) if part.dtype.kind == "f" else part for name, part in given.items()
    }
    arrays = ui.score_features(**single, training=RIDGE)
    same: dict[str, Any] = {name: torch.as_tensor(part) for name, part in single.items()}
    tensors = ui.score_features(**same, training=RIDGE)
    assert torch.as_tensor(single["X"]).dtype is torch.float32
    np.testing.assert_array_equal(arrays.functional, tensors.functional)


def test_read_only_memory_maps_are_read(tmp_path: Path) -> None:
    given = features()
    np.save(tmp_path / "X.npy", given["X"])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        ui.score_features(mapped, given["y"], training=RIDGE).weight,
        ui.score_features(given["X"], given["y"], training=RIDGE).weight,
    )


def test_the_table_has_the_users_ids_and_columns() -> None:
    given = features()
    names = [f"img{i}" for i in range(30)]
    scores = ui.score_features(**given, training=RIDGE, ids=names, columns={"source": ["a", "b"] * 15})
    assert scores.frame().columns.tolist() == [
        "id",
        "label",
        "functional",
        "weight",
        "value",
        "loo_loss",
        "source",
    ]
    assert scores.frame().id.tolist() == names


def test_automatic_training_is_written_down() -> None:
    scores = ui.score_features(**features())
    chosen = scores.settings["training"]
    curve = scores.settings["stopping"]
    assert chosen["steps"] == curve["steps"][int(np.argmin(curve["loo_loss"]))]


# Saved and loaded


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    scores = ui.score_features(**features(), training=RIDGE, columns={"source": ["a", "b"] * 15})
    found = ui.load(scores.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(found.frame(), scores.frame(), check_dtype=False)
    np.testing.assert_array_equal(found.loo_outputs, scores.loo_outputs)
    assert found.settings == scores.settings
    assert found.settings["versions"]["uniqueinfo"] == ui.__version__


def test_regression_targets_of_several_outputs_are_saved(tmp_path: Path) -> None:
    y = np.random.default_rng(0).normal(size=(30, 2))
    found = ui.load(ui.score_features(features()["X"], y, training=RIDGE).save(tmp_path))
    np.testing.assert_array_equal(found.labels, y)


def test_two_runs_give_identical_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        ui.score_features(**features(n=200, p=20)).save(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_failed_save_leaves_the_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = ui.score_features(**features(), training=RIDGE)
    scores.save(tmp_path)
    before = contents(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("uniqueinfo.store.files.os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        scores.replaced(weight=2 * scores.weight).save(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("content", [None, b"", b"not a table"])
def test_a_folder_without_scores_is_named(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ui.InputError, match=str(tmp_path)):
        ui.load(tmp_path)


# Mistakes


def put(array: Any, at: Any, value: Any) -> Any:
    changed = np.array(array, dtype=float)
    changed[at] = value
    return changed


BAD: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "NaN feature": (lambda: {"X": put(features()["X"], (17, 2), np.nan)}, "X: sample 17 holds NaN or infinity"),
    "infinite validation": (
        lambda: {"X_val": put(features()["X_val"], (3, 0), np.inf)},
        "X_val: sample 3 holds NaN",
    ),
    "NaN target": (lambda: {"y": put(np.zeros(30), 4, np.nan), "y_val": None}, "y: sample 4 holds NaN"),
    "too few labels": (lambda: {"y": np.zeros(29, int)}, "y: expected one label for each of the 30 samples"),
    "no samples": (lambda: {"X": np.empty((0, 5)), "y": np.empty(0, int)}, "X: is empty"),
    "no features": (lambda: {"X": np.empty((30, 0))}, "X: is empty"),
    "no validation": (lambda: {"X_val": np.empty((0, 5)), "y_val": np.empty(0, int)}, "X_val: is empty"),
    "one-dimensional features": (
        lambda: {"X": np.zeros(30)},
        r"X: expected an array \(samples, features\), got shape \(30,\)",
    ),
    "text features": (lambda: {"X": np.full((30, 5), "a")}, "X: expected numbers"),
    "other width in validation": (
        lambda: {"X_val": np.zeros((8, 4))},
        "X_val: expected 5 features, as X has, got 4",
    ),
    "label only in validation": (
        lambda: {"y_val": np.full(8, 7)},
        "y_val: sample 0 has label .*7.*, which is none of the classes",
    ),
    "labels without inputs": (lambda: {"X_val": None}, "there are validation labels but no X_val"),
    "label outside the classes": (lambda: {"classes": [0, 1]}, "y: sample 2 has label .*2.*, which is none of"),
    "repeated classes": (lambda: {"classes": [0, 1, 1]}, "classes: expected different class labels"),
    "unknown form": (lambda: {"form": "tri"}, 'form: expected "auto", "dual" or "primal"'),
    "unknown training": (lambda: {"training": "adam"}, "training: expected a training algorithm"),
    "repeated ids": (lambda: {"ids": [0] * 30}, "ids: .*0.* names 30 samples"),
    "too few ids": (lambda: {"ids": [0]}, "ids: expected one for each of the 30 samples"),
    "too few rows of columns": (lambda: {"columns": {"source": ["a"]}}, "columns: expected 30 rows"),
    "clashing columns": (lambda: {"columns": {"weight": range(30)}}, r"columns: \['weight'\] would hide"),
    "diverging rate": (lambda: {"training": ui.GradientDescent(1e3, 5)}, "lr must stay below"),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_named(changed: Callable[[], dict[str, Any]], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        ui.score_features(**{**features(), "training": RIDGE, **changed()})


@pytest.mark.parametrize(
    ("J", "residual", "message"),
    [
        ((3, 4), (3,), r"J: expected an array \(samples, outputs, parameters\)"),
        ((3, 2, 4), (3, 1), r"residual: expected shape \(3, 2\)"),
        ((3, 2, 4), (4, 2), r"residual: expected shape \(3, 2\)"),
    ],
)
def test_jacobians_that_do_not_fit_are_named(J: tuple[int, ...], residual: tuple[int, ...], message: str) -> None:
    with pytest.raises(ui.InputError, match=message):
        ui.score_jacobian(np.zeros(J), np.zeros(residual), training=RIDGE)
