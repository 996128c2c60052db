"""A run folder gives back the trained linearization that its scores were measured on."""

from pathlib import Path

import numpy as np
import pytest

import uniqueinfo as ui
from uniqueinfo.applications.mislabeled import mislabeled
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare


@pytest.fixture(params=["linear", "mlp:8", "file"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    np.savez(tmp_path / "data.npz", X=X, y=(X[:, 0] > 0).astype(int))
    network = tmp_path / "net.py"
    network.write_text("from torch import nn\ndef make(outputs): return nn.Linear(4, outputs)\n")
    name = f"{network}:make" if request.param == "file" else request.param
    prepared = prepare(Job(tmp_path / "data.npz", ModelChoice(name), projection=50))
    run = Run.open(tmp_path / "run", prepared.record())
    prepared.score(run)
    return run


def test_leaving_out_again_gives_the_same_scores(run: Run) -> None:
    scores = ui.load(run.path, trust=True)
    origin = scores.origin
    assert origin.probe is not None
    again = origin.run.leave_out().functional_information(origin.probe)
    assert scores.functional is not None
    np.testing.assert_allclose(again, scores.functional, rtol=1e-10)  # partitions of another size round otherwise


def test_points_have_the_kernel_as_their_inner_products(run: Run) -> None:
    origin = ui.load(run.path, trust=True).origin
    points = origin.points().flatten(0, 1)
    fitted = points @ origin.run.coordinates
    np.testing.assert_allclose(fitted.numpy().ravel(), (origin.run.outputs() - _initial(origin)).ravel(), atol=1e-12)


def test_a_question_finds_the_eigenvectors_of_the_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(matrix: object) -> None:
        raise AssertionError("eigenvectors are computed again")

    monkeypatch.setattr("torch.linalg.eigh", never)
    assert len(ui.attribute(ui.load(run.path, trust=True), 2).change) == len(ui.load(run.path, trust=True))


def test_what_leaves_with_each_sample_is_found_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ui.attribute(ui.load(run.path, trust=True), 2)

    def never(*given: object) -> None:
        raise AssertionError("removals are solved again")

    monkeypatch.setattr("uniqueinfo.removal.leaving.solve", never)
    again = ui.attribute(ui.load(run.path, trust=True), 2)
    np.testing.assert_array_equal(again.change, first.change)
    assert ui.attribute(ui.load(run.path, trust=True), 3).change.any()


def test_eigenvectors_that_went_are_computed_and_kept(run: Run) -> None:
    before = ui.attribute(ui.load(run.path, trust=True), 2).change
    kept = run.folder.work / "spectrum.safetensors"
    kept.unlink()
    again = ui.attribute(ui.load(run.path, trust=True), 2).change
    np.testing.assert_allclose(again, before, atol=1e-10 * np.abs(before).max())  # sums of other parts round otherwise
    assert kept.exists()


def test_eigenvectors_that_would_fill_the_disk_go(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniqueinfo.scoring.work._SHARE", 0.0)
    (run.folder.work / "spectrum.safetensors").unlink()
    assert ui.load(run.path, trust=True).origin.run.samples
    assert not (run.folder.work / "spectrum.safetensors").exists()


def _initial(origin: object) -> np.ndarray:
    found: np.ndarray = origin.run.linearization.initial.flatten(1).numpy()  # type: ignore[attr-defined]
    return found


def test_a_run_of_a_relative_path_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.savez(tmp_path / "data.npz", X=X, y=(X[:, 0] > 0).astype(int))
    monkeypatch.chdir(tmp_path)
    prepared = prepare(Job(Path("data.npz"), ModelChoice("linear")))
    prepared.score(Run.open(Path("run"), prepared.record()))
    assert ui.load("run").origin.run.samples == len(prepared.train)


def test_data_that_changed_is_refused(run: Run) -> None:
    path = Path(run.record["paths"]["train"])
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "X": arrays["X"] + 1})
    with pytest.raises(ui.InputError, match=r"its train and val files have changed .* score again"):
        ui.load(run.path, trust=True).origin  # noqa: B018


def test_scores_saved_by_hand_say_what_to_ask(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(10, 3))
    scores = ui.load(ui.score_features(X, X[:, 0] > 0, X).save(tmp_path))
    with pytest.raises(ui.InputError, match=r"ask it of what ui\.score gives"):
        scores.origin  # noqa: B018


def test_a_kept_answer_comes_back_and_replaces_the_one_before(run: Run) -> None:
    for rate in (0.1, 0.5):
        run.keep(mislabeled(run.scores(), noise_rate=rate))
    (kept,) = run.answers()
    assert (kept["name"], kept["rows"]) == ("mislabeled", 15)
    assert kept["figure"].startswith("data:image/")
