"""Scores in the logs of MLflow and W&B, each in a store on this disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uniqueinfo as ui
from uniqueinfo.tools.logged import gathered


@pytest.fixture(scope="module")
def scores() -> ui.Scores:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = 3 * np.eye(3)[y] + rng.normal(size=(60, 3))
    return ui.score_features(X, np.array(["a", "b", "c"])[y], X)


def test_what_is_logged_says_what_scores_and_answers_say(scores: ui.Scores) -> None:
    wrong = ui.mislabeled(scores)
    with gathered(scores, [wrong], None) as found:
        pd.testing.assert_series_equal(pd.read_parquet(found.table)["functional"], scores.frame()["functional"])
        assert "Which labels look wrong?" in found.page.read_text(encoding="utf-8")
    assert found.numbers["samples"] == 60
    assert scores.functional is not None
    assert found.numbers["mean_information"] == pytest.approx(scores.functional.mean())
    assert found.numbers["wrong_labels_expected"] == pytest.approx(wrong.expected.value)
    assert set(found.figures) == {"distribution", "concentration", "mislabeled"}
    assert found.facts["taken_as/y"] == "3 classes, one output each: a, b, c"
    assert not found.page.exists()


def test_an_answer_that_is_none_is_refused(scores: ui.Scores) -> None:
    with pytest.raises(ui.InputError, match="answers: expected"), gathered(scores, [3], None):  # type: ignore[list-item]
        pass


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_without_the_library_it_is_said_what_to_install(
    scores: ui.Scores, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ui.InputError, match=rf"pip install 'uniqueinfo\[{name}\]'"):
        getattr(ui, f"log_to_{name}")(scores)


@pytest.fixture
def mlflow(tmp_path: Path) -> Iterator[Any]:
    found = pytest.importorskip("mlflow", reason="mlflow is not installed")
    pytest.importorskip("sqlalchemy", reason="a store on this disk needs sqlalchemy")
    before = found.get_tracking_uri()
    found.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    found.set_experiment(experiment_id=found.create_experiment("t", artifact_location=(tmp_path / "kept").as_uri()))
    yield found
    found.set_tracking_uri(before)


def test_mlflow_keeps_numbers_figures_table_and_page(mlflow: Any, scores: ui.Scores) -> None:
    with mlflow.start_run():
        run = ui.log_to_mlflow(scores, answers=[ui.mislabeled(scores)])
    kept = mlflow.get_run(run)
    assert kept.data.metrics["uniqueinfo/samples"] == 60
    assert kept.data.params["uniqueinfo/taken_as/y"] == "3 classes, one output each: a, b, c"
    names = {Path(each.path).name for each in mlflow.MlflowClient().list_artifacts(run, "uniqueinfo")}
    assert names == {"distribution.png", "concentration.png", "mislabeled.png", "scores.parquet", "report.html"}
    table = mlflow.artifacts.download_artifacts(run_id=run, artifact_path="uniqueinfo/scores.parquet")
    np.testing.assert_array_equal(pd.read_parquet(table)["weight"], scores.weight)


def test_a_run_of_mlflow_may_be_named(mlflow: Any, scores: ui.Scores) -> None:
    with mlflow.start_run() as run:
        pass
    assert ui.log_to_mlflow(scores, run_id=run.info.run_id, prefix="mine") == run.info.run_id
    assert "mine/samples" in mlflow.get_run(run.info.run_id).data.metrics


def test_without_a_run_of_mlflow_it_is_said(mlflow: Any, scores: ui.Scores) -> None:
    with pytest.raises(ui.InputError, match=r"mlflow\.start_run"):
        ui.log_to_mlflow(scores)


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path))
    return pytest.importorskip("wandb", reason="wandb is not installed")


def test_wandb_keeps_numbers_figures_table_and_page(wandb: Any, scores: ui.Scores, tmp_path: Path) -> None:
    run = wandb.init(project="t", dir=str(tmp_path))
    assert ui.log_to_wandb(scores, answers=[ui.mislabeled(scores)]) == run.id
    assert run.summary["uniqueinfo/samples"] == 60
    assert run.config["uniqueinfo/taken_as/y"] == "3 classes, one output each: a, b, c"
    run.finish()
    media = {path.name.split("_")[0] for path in tmp_path.rglob("media/**/*") if path.is_file()}
    assert {"distribution", "concentration", "mislabeled", "most", "page"} <= media


def test_without_a_run_of_wandb_it_is_said(wandb: Any, scores: ui.Scores) -> None:
    with pytest.raises(ui.InputError, match=r"wandb\.init"):
        ui.log_to_wandb(scores)
