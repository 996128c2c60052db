"""Samples that a run holds out for validation: they get scores too, and stay in every table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uniqueinfo as ui
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.projections import Factorized
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.scores.folder import RunFolder
from uniqueinfo.scores.table import Scores
from uniqueinfo.training import Converged, GradientDescent

ROWS = 80


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eighty rows, of which every tenth has a wrong label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    right = X[:, 0] > 0
    frame["label"] = np.where(np.where(np.arange(ROWS) % 10 == 0, ~right, right), "yes", "no")
    path = tmp_path_factory.mktemp("data") / "table.csv"
    frame.to_csv(path, index=False)
    return path


def scored(table: Path, out: Path, model: str = "linear", **asked: object) -> Scores:
    prepared = prepare(replace(Job(table, ModelChoice(model)), **asked))  # type: ignore[arg-type]
    prepared.score(Run.open(out, prepared.record()))
    return ui.load(out)


@pytest.fixture(scope="module")
def scores(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Scores:
    return scored(table, tmp_path_factory.mktemp("run") / "run")


def test_every_row_of_the_file_has_scores(scores: Scores) -> None:
    found = everyone(scores)
    assert sorted(found.names) == list(range(ROWS))
    assert found.frame()["place"].value_counts().to_dict() == {"training": 64, "held out": 16}
    assert np.isfinite(found.frame()[["functional", "weight", "value", "loo_loss"]]).all(axis=None)


def test_what_is_said_of_a_held_out_row_is_the_networks_prediction(scores: Scores) -> None:
    assert scores.held_out is not None
    origin = scores.origin
    np.testing.assert_allclose(scores.held_out.loo_outputs, origin.run.outputs(origin.probe), rtol=1e-9)


@pytest.mark.parametrize("projection", [None, 20], ids=["by kernels", "by rows"])
def test_a_held_out_row_weighs_what_it_would_take_away_from_a_training_that_has_it(
    table: Path, tmp_path: Path, projection: int | None
) -> None:
    job = Job(table, ModelChoice("mlp:6"), training=GradientDescent(0.01, 50), projection=projection)
    prepared = prepare(job)
    found = prepared.score(Run.open(tmp_path / "run", prepared.record())).held_out
    assert found is not None
    (X, y), (X_val, y_val) = prepared.samples()
    together = np.concatenate([X, X_val[:1]]), np.concatenate([y, y_val[:1]])
    asked = None if projection is None else Factorized(projection)
    others = (X_val[1:], y_val[1:])
    wanted = ui.score(prepared.network(), together, others, training=GradientDescent(0.01, 50), projection=asked)
    for name in ("weight", "functional", "value"):
        np.testing.assert_allclose(getattr(found, name)[0], getattr(wanted, name)[-1], rtol=1e-4)  # rows are float32


def test_wrong_labels_are_found_among_held_out_rows_too(scores: Scores) -> None:
    found = ui.mislabeled(scores)
    wrong = set(range(0, ROWS, 10))
    held = {int(row) for row in scores.held_out.rows}  # type: ignore[union-attr]
    assert wrong & held, "the seed holds none of them out"
    assert len(wrong & held & set(map(int, found.frame()["id"]))) >= 1
    assert len(found.frame(everyone=True)) == ROWS


def test_a_held_out_suspect_is_shown_as_a_validation_sample(scores: Scores) -> None:
    found = ui.mislabeled(scores, noise_rate=1.0)
    shown = {one.split for gallery in found.galleries() for one in gallery.samples}
    assert shown == {"train", "validation"}


def test_a_cleaned_table_is_in_the_order_of_the_file(scores: Scores) -> None:
    assert ui.mislabeled(scores).cleaned()["id"].tolist() == list(range(ROWS))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"training": Converged()}, "add a little decay"),
        ({"training": GradientDescent(0.01, 3), "sketch": 2}, "a sketch keeps only some directions"),
    ],
    ids=["without decay", "sketch"],
)
def test_where_rows_cannot_be_added_predictions_are_left_and_it_is_said(
    table: Path, tmp_path: Path, asked: dict[str, Any], why: str
) -> None:
    found = scored(table, tmp_path / "run", **asked)
    assert found.held_out is not None
    assert np.isnan(found.held_out.weight).all()
    assert np.isfinite(found.held_out.loo_outputs).all()
    assert why in found.settings["run"]["notes"][-1]


def test_a_run_that_was_stopped_before_its_end_ends_with_the_same_bytes(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "keep_held_out", stop)
        with pytest.raises(KeyboardInterrupt):
            scored(table, tmp_path / "stopped")
    scored(table, tmp_path / "stopped")
    scored(table, tmp_path / "whole")
    one, other = (next((tmp_path / name / "held_out.parquet").iterdir()) for name in ("stopped", "whole"))
    assert one.read_bytes() == other.read_bytes()


def test_a_run_is_finished_once_all_is_told(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "told", stop)
        with pytest.raises(KeyboardInterrupt):
            scored(table, tmp_path / "run")
    assert not Run.find(tmp_path / "run").finished


def test_damaged_scores_of_held_out_rows_are_refused(table: Path, tmp_path: Path) -> None:
    scored(table, tmp_path / "run")
    next((tmp_path / "run" / "held_out.parquet").iterdir()).write_bytes(b"no table")
    with pytest.raises(InputError, match="missing or damaged"):
        ui.load(tmp_path / "run")


def test_saved_scores_keep_the_held_out_rows(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "saved")
    pd.testing.assert_frame_equal(everyone(ui.load(tmp_path / "saved")).frame(), everyone(scores).frame())


def test_validation_data_of_its_own_holds_nothing_out(table: Path, tmp_path: Path) -> None:
    assert scored(table, tmp_path / "run", val=table).held_out is None
