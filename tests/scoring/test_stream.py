"""Streams give what the whole in memory gives, and what is done is found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import uniqueinfo as ui
from tests.problems import problem
from tests.scoring.problems import MEASURES, contents, features, images, largest_difference, network
from uniqueinfo.errors import InputError
from uniqueinfo.scores.stored import StoredScores
from uniqueinfo.spectrum import sums
from uniqueinfo.store.files import held

ALL = ui.RandomCoordinates(10_000)  # larger than any layer here: keeps every parameter


@pytest.mark.parametrize(
    "training", [ui.Converged(1e-2), ui.GradientDescent(0.1, 100), ui.GradientFlow(0.1, 50.0, reduction="sum"), "auto"]
)
def test_streamed_features_score_as_in_memory(training: Any, tmp_path: Path) -> None:
    (X, y), (X_val, y_val) = features(), features(40, seed=1)
    wanted = ui.score_features(X, y, X_val, y_val, training=training, form="primal")
    told: dict[str, Any] = wanted.settings["training"]
    found = ui.score_features(X, y, X_val, y_val, training=training, out=tmp_path / "run")
    assert len(list((tmp_path / "run" / "scores.parquet").iterdir())) > 3
    assert largest_difference(found, wanted) < 1e-10  # sums in another order; the rest is the same algebra
    same = {key: value if isinstance(value, str) else pytest.approx(value, rel=1e-12) for key, value in told.items()}
    assert found.settings["training"] == same
    np.testing.assert_array_equal(found.labels, wanted.labels)


def test_streamed_jacobians_score_as_in_memory(tmp_path: Path) -> None:
    given, training = problem(n=200, k=3, D=20), ui.GradientDescent(0.3, 60)
    initial = np.random.default_rng(1).normal(size=(200, 3))
    arrays = given.J, given.residual, given.J_val, given.residual_val
    wanted = ui.score_jacobian(*arrays, initial=initial, training=training)
    found = ui.score_jacobian(*arrays, initial=initial, training=training, out=tmp_path / "run")
    assert found.settings["partition"] < 100
    assert largest_difference(found, wanted) < 1e-10


@pytest.mark.parametrize("keep", [True, False])
def test_streamed_networks_score_as_in_memory(keep: bool, tmp_path: Path) -> None:
    training = ui.GradientDescent(0.1, 100)
    common: dict[str, Any] = {"training": training, "projection": ALL}
    wanted = ui.score(network(), images(), images(30, seed=1), form="primal", **common)
    found = ui.score(network(), images(), images(30, seed=1), out=tmp_path / "run", keep=keep, **common)
    assert largest_difference(found, wanted) < 1e-5  # rows are float32, and batches of another size round otherwise


def test_keeping_rows_and_computing_them_again_give_the_same_bytes(tmp_path: Path) -> None:
    for keep in (True, False):
        ui.score(
            network(), images(), images(30, seed=1), training=ui.Converged(0.1), projection=ALL,
            out=tmp_path / str(keep), keep=keep,
        )  # fmt: skip
    kept, twice = (contents(tmp_path / name) for name in ("True", "False"))
    assert {name: kept[name] for name in twice} == twice
    assert {Path(name).parts[:2] for name in kept.keys() - twice.keys()} == {("work", "rows")}


def test_where_rows_take_long_it_is_said_whether_they_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uniqueinfo.scoring.network._WORTH_TELLING", 0.0)
    ui.score(network(), images(), training=ui.Converged(0.1), projection=ALL, out=tmp_path / "run", keep=True)
    said = capsys.readouterr().err
    assert "chosen: keep: " in said
    assert "or: compute twice" in said


def test_rows_of_other_samples_in_the_named_folder_are_not_used(tmp_path: Path) -> None:
    common: dict[str, Any] = {"training": ui.Converged(0.1), "projection": ALL, "folder": tmp_path / "rows"}
    ui.score(network(), images(seed=5), out=tmp_path / "other", **common)
    found = ui.score(network(), images(), out=tmp_path / "run", **common)
    wanted = ui.score(network(), images(), training=ui.Converged(0.1), projection=ALL, engine="local")
    np.testing.assert_array_equal(found.weight, wanted.weight)


def test_mixed_outputs_are_counted_for_all(tmp_path: Path) -> None:
    common: dict[str, Any] = {"training": ui.Converged(0.1), "projection": ALL, "outputs": ui.OutputSketch(2)}
    wanted = ui.score(network(), images(), images(30, seed=1), form="primal", **common)
    found = ui.score(network(), images(), images(30, seed=1), engine="local", **common)
    assert largest_difference(found, wanted) < 1e-5


def test_without_a_folder_the_scores_come_in_memory() -> None:
    (X, y), (X_val, _) = features(), features(40, seed=1)
    found = ui.score_features(X, y, X_val, training=ui.Converged(1e-2), engine="local")
    assert not isinstance(found, StoredScores)
    assert found.value is None
    assert found.functional is not None


def test_paths_are_streamed_without_being_told_to(tmp_path: Path) -> None:
    X, y = features()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    found = ui.score_features(str(tmp_path / "X.npy"), tmp_path / "y.npy", training=ui.Converged(1e-2))
    wanted = ui.score_features(X, y, training=ui.Converged(1e-2), engine="local")
    np.testing.assert_array_equal(found.weight, wanted.weight)


def test_a_finished_run_is_found_again_and_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = features()
    first = ui.score_features(X, y, X, training=ui.Converged(1e-2), out=tmp_path / "run")
    monkeypatch.setattr(sums, "_product", None)
    again = ui.score_features(X, y, X, training=ui.Converged(1e-2), out=tmp_path / "run")
    np.testing.assert_array_equal(first.weight, again.weight)


def test_a_folder_somebody_is_at_work_in_is_refused(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(InputError, match="another process is at work in this folder"):
        ui.score_features(*features(), training=ui.Converged(1e-2), out=tmp_path)


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    X, y = features()
    ui.score_features(X, y, training=ui.Converged(1e-2), out=tmp_path / "run")
    before = contents(tmp_path / "run")
    with pytest.raises(InputError, match=r"training.weight_decay = 0.01, not 0.1"):
        ui.score_features(X, y, training=ui.Converged(1e-1), out=tmp_path / "run")
    with pytest.raises(InputError, match=r"train.content"):
        ui.score_features(X + 1e-9, y, training=ui.Converged(1e-2), out=tmp_path / "run")
    assert contents(tmp_path / "run") == before


def test_a_folder_of_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match=r"letter\.txt"):
        ui.score(network(), images(), training=ui.Converged(0.1), projection=ALL, out=tmp_path)
    assert contents(tmp_path) == {"letter.txt": b"dear"}
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_ids_and_columns_travel_along(tmp_path: Path) -> None:
    X, y = features()
    ids, columns = [f"s{i}" for i in range(len(X))], {"annotator": np.arange(len(X)) % 7}
    ui.score_features(X, y, training=ui.Converged(1e-2), ids=ids, columns=columns, out=tmp_path / "run")
    frame = ui.load(tmp_path / "run").frame()
    assert frame["id"].tolist() == ids
    assert frame["annotator"].tolist() == columns["annotator"].tolist()


def test_stored_scores_go_by_in_batches_and_answer_questions(tmp_path: Path) -> None:
    X, y = features()
    found = ui.score_features(X, y, X, y, training=ui.Converged(1e-2), out=tmp_path / "run")
    assert isinstance(found, StoredScores)
    assert not set(MEASURES) & set(vars(found))  # nothing is read before it is asked for
    batches = list(found.batches())
    assert len(batches) > 3
    np.testing.assert_array_equal(np.concatenate([batch["functional"] for batch in batches]), found.functional)
    assert len(ui.mislabeled(found, noise_rate=0.1).frame()) == 30


@pytest.mark.parametrize("bad", ["X", "y"])
def test_nan_is_refused_by_the_number_of_its_sample(bad: str, tmp_path: Path) -> None:
    X, _ = features()
    y = np.random.default_rng(0).normal(size=len(X))
    (X[:, 0] if bad == "X" else y)[217] = np.nan
    with pytest.raises(InputError, match="sample 217 holds NaN"):
        ui.score_features(X, y, training=ui.Converged(1e-2), out=tmp_path / "run")


def test_a_rate_that_diverges_is_refused_and_leaves_the_folder_free(tmp_path: Path) -> None:
    X, y = features()
    with pytest.raises(InputError, match="diverges"):
        ui.score_features(X, y, training=ui.GradientDescent(1e3, 10), out=tmp_path / "run")
    found = ui.score_features(X, y, training=ui.GradientDescent(0.1, 10), out=tmp_path / "run")
    np.testing.assert_array_equal(found.weight, ui.score_features(X, y, training=ui.GradientDescent(0.1, 10)).weight)


@pytest.mark.parametrize("smoothing", [ui.Isotropic(0.5), ui.Langevin(0.1, 4), ui.SGD(0.1, 4)])
def test_smoothing_streams(smoothing: Any, tmp_path: Path) -> None:
    (X, y), common = features(), dict[str, Any](training=ui.Converged(1e-2))
    wanted = ui.score_features(X, y, X, smoothing=smoothing, **common)
    found = ui.score_features(X, y, X, smoothing=smoothing, out=tmp_path / "run", **common)
    np.testing.assert_array_equal(found.smoothed, wanted.smoothed)
    assert found.settings["smoothing"] == wanted.settings["smoothing"]


def test_the_dual_form_streams(tmp_path: Path) -> None:
    X, y = features()
    found = ui.score_features(X, y, X, training=ui.Converged(1e-2), form="dual", out=tmp_path / "run")
    wanted = ui.score_features(X, y, X, training=ui.Converged(1e-2), form="primal")
    assert found.settings["form"] == "dual"
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-8)


def test_a_sketch_streams(tmp_path: Path) -> None:
    given = problem(200, 1, 150, decades=4, m=40)
    common: dict[str, Any] = {"training": ui.GradientFlow(20 / given.largest, 200.0), "sketch": 40}
    arrays = given.J, given.residual, given.J_val, given.residual_val
    found, wanted = ui.score_jacobian(*arrays, out=tmp_path / "run", **common), ui.score_jacobian(*arrays, **common)
    assert found.errors is not None
    assert wanted.errors is not None
    np.testing.assert_array_equal(found.functional, wanted.functional)
    np.testing.assert_array_equal(found.errors["functional"], wanted.errors["functional"])


def test_a_sketch_is_the_same_however_samples_are_cut() -> None:
    given = problem(600, 2, 150, decades=4, m=40)
    training = ui.GradientFlow(20 / given.largest, 200.0)
    whole = ui.Linearization.from_jacobian(given.J, given.residual, sketch=40)
    wanted = whole.train(training).leave_out().measures(whole.probe(given.J_val, given.residual_val))
    found = ui.score_jacobian(given.J, given.residual, given.J_val, given.residual_val, training=training, sketch=40)
    assert found.settings["partition"] < 100
    assert found.functional is not None
    assert wanted.functional is not None
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-8)
    np.testing.assert_allclose(found.functional, wanted.functional, rtol=1e-8)


def test_too_little_memory_for_a_sketch_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 250)), rng.normal(size=300)
    with pytest.raises(InputError, match=r"matrices of 251 × 200, which .* keep fewer directions"):
        ui.score_features(X, y, training=ui.GradientFlow(1e-3, 1.0), sketch=200, memory="130MB", out=tmp_path / "run")


def test_too_little_memory_for_the_matrices_is_said(tmp_path: Path) -> None:
    X, y = features()
    with pytest.raises(InputError, match="project on fewer columns"):
        ui.score_features(X, y, training=ui.Converged(1e-2), memory="100MB", out=tmp_path / "run")


def test_an_unknown_engine_is_refused() -> None:
    X, y = features()
    with pytest.raises(InputError, match="spark"):
        ui.score_features(X, y, training=ui.Converged(1e-2), engine="spark")


def test_float64_networks_stream(tmp_path: Path) -> None:
    X, y = images()
    found = ui.score(network().double(), (X, y), training=ui.Converged(0.1), projection=ALL, out=tmp_path / "run")
    wanted = ui.score(network(), (X, y), training=ui.Converged(0.1), projection=ALL, engine="local")
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-4)
    assert torch.get_default_dtype() is torch.float32
