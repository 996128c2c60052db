"""`uniqueinfo score`, `show` and `report` on small real files."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import save_file
from torch import nn

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.runs.readers import files
from uniqueinfo.applications.suspicion.stack import Verdict, judge
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.scores.folder import load_table as load


def test_a_table_becomes_scores_and_a_page(tmp_path: Path, uniqueinfo: Caller) -> None:
    answer = uniqueinfo("score", files.csv(tmp_path / "t.csv"), "--label", "kind", "--out", tmp_path / "run")
    assert answer.code == 0
    assert str(tmp_path / "run" / "report.html") in answer.out
    assert "4 of the 24 samples (a share of each class) are held out" in answer.out
    scores = load(tmp_path / "run")
    assert len(scores) == 20
    assert scores.value is not None
    assert set(scores.frame()["colour"]) == {"red", "blue"}
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000


def test_a_column_named_like_a_measure_is_told_apart(tmp_path: Path, uniqueinfo: Caller) -> None:
    data = files.csv(tmp_path / "t.csv", files.table().rename(columns={"colour": "value"}))
    assert uniqueinfo("score", data, "--label", "kind", "--out", tmp_path / "run").code == 0
    assert set(load(tmp_path / "run").frame()["value (given)"]) == {"red", "blue"}


@dataclass(frozen=True)
class ByHand:
    """Two files, a command that scores a network on them, and the same through the library."""

    train: Path
    val: Path

    @classmethod
    def written(cls, folder: Path) -> ByHand:
        return cls(files.npz(folder / "a.npz"), files.npz(folder / "b.npz", samples=7, seed=1))

    @property
    def command(self) -> tuple[Any, ...]:
        return ("score", self.train, "--val", self.val, "--model", "mlp:8", "--lr", 0.01, "--steps", 20)

    def network(self, seed: int = 0) -> nn.Module:
        return ModelChoice("mlp:8").build((3,), 1, seed)

    def scores(self, network: nn.Module, **given: Any) -> ui.Scores:
        train, val = ((read["X"].astype(np.float32), read["y"]) for read in map(np.load, (self.train, self.val)))
        settings = {"training": ui.GradientDescent(0.01, 20), "projection": ui.Factorized(2000), **given}
        return ui.score(network, train, val, **settings)

    def check(self, run: Path, wanted: ui.Scores) -> None:
        found = load(run)
        for name in ("weight", "functional", "value", "loo_outputs"):
            np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-6, atol=1e-12)


@pytest.fixture
def by_hand(tmp_path: Path) -> ByHand:
    return ByHand.written(tmp_path)


def test_each_sample_knows_whom_it_moves(tmp_path: Path, uniqueinfo: Caller, by_hand: ByHand) -> None:
    uniqueinfo(*by_hand.command, "--out", tmp_path / "run")
    found, wanted = load(tmp_path / "run").effects, by_hand.scores(by_hand.network(), effects=5).effects
    assert found is not None
    assert wanted is not None
    np.testing.assert_array_equal(found.validation, wanted.validation)
    np.testing.assert_allclose(found.change, wanted.change, rtol=1e-6)


def test_trained_weights_enter_the_scores_and_belong_to_the_run(
    tmp_path: Path, uniqueinfo: Caller, by_hand: ByHand
) -> None:
    weights = by_hand.network(seed=3).state_dict()
    save_file(weights, tmp_path / "after.safetensors")
    command = (*by_hand.command, "--trained", tmp_path / "after.safetensors", "--out", tmp_path / "ends")
    assert uniqueinfo(*command).code == 0
    by_hand.check(tmp_path / "ends", by_hand.scores(by_hand.network(), trained=weights))
    again = uniqueinfo("validate", tmp_path / "ends", "--samples", 10)
    assert again.code == 0
    save_file({name: 2 * w for name, w in weights.items()}, tmp_path / "after.safetensors")
    changed = uniqueinfo(*command)
    assert changed.code == 2
    assert "data.model" in changed.err


def test_a_centred_network_starts_from_zero_and_is_found_again(
    tmp_path: Path, uniqueinfo: Caller, by_hand: ByHand
) -> None:
    assert uniqueinfo(*by_hand.command, "--centred", "--out", tmp_path / "centred").code == 0
    by_hand.check(tmp_path / "centred", by_hand.scores(ui.centred(by_hand.network())))
    assert uniqueinfo("validate", tmp_path / "centred", "--samples", 10).code == 0
    refused = uniqueinfo(*by_hand.command, "--out", tmp_path / "centred")
    assert refused.code == 2
    assert "settings.model.centred" in refused.err


def test_a_finished_run_is_not_computed_again(tmp_path: Path, uniqueinfo: Caller) -> None:
    command = ("score", files.npz(tmp_path / "a.npz"), "--model", "mlp:8", "--out", tmp_path / "run")
    uniqueinfo(*command)
    written = (tmp_path / "run" / "scores.parquet").stat().st_mtime_ns
    answer = uniqueinfo(*command)
    assert answer.code == 0
    assert "finished already" in answer.out
    assert (tmp_path / "run" / "scores.parquet").stat().st_mtime_ns == written


def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path, uniqueinfo: Caller) -> None:
    command = ("score", files.npz(tmp_path / "a.npz"), "--out", tmp_path / "run")
    uniqueinfo(*command, "--lr", 0.1, "--steps", 10)
    answer = uniqueinfo(*command, "--lr", 0.2, "--steps", 10)
    assert answer.code == 2
    assert "settings.training.lr = 0.1, not 0.2" in answer.err


def test_changed_data_in_the_same_folder_is_refused(tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", files.npz(tmp_path / "a.npz"), "--out", tmp_path / "run")
    answer = uniqueinfo("score", files.npz(tmp_path / "a.npz", seed=1), "--out", tmp_path / "run")
    assert answer.code == 2
    assert "data.train" in answer.err


def test_pictures_are_scored_by_a_network_of_the_users(tmp_path: Path, uniqueinfo: Caller) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n"
        "def small(outputs):\n"
        "    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, outputs))\n"
    )
    answer = uniqueinfo(
        "score", files.pictures(tmp_path / "train"), "--val", files.pictures(tmp_path / "val"), "--size", 8,
        "--model", f"{tmp_path / 'net.py'}:small", "--out", tmp_path / "run",
    )  # fmt: skip
    assert answer.code == 0
    scores = load(tmp_path / "run")
    assert scores.labels is not None
    assert scores.labels.tolist() == ["dark"] * 4 + ["light"] * 4
    assert scores.settings["classes"] == ["dark", "light"]
    assert "data:image" in (tmp_path / "run" / "report.html").read_text()


def test_a_linear_model_takes_pictures_too(tmp_path: Path, uniqueinfo: Caller) -> None:
    folder = files.pictures(tmp_path / "train")
    assert uniqueinfo("score", folder, "--model", "linear", "--size", 4, "--out", tmp_path / "run").code == 0
    assert load(tmp_path / "run").settings["width"] == 3 * 4 * 4 + 1


def test_a_text_column_is_scored(tmp_path: Path, uniqueinfo: Caller) -> None:
    rng = np.random.default_rng(0)
    words = {"good": ["bright", "clever", "warm", "film"], "bad": ["dull", "slow", "cold", "film"]}
    rows = [(" ".join(rng.choice(words[kind], 6)), kind) for kind in ("good", "bad") * 10]
    pd.DataFrame(rows, columns=["review", "label"]).to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    answer = uniqueinfo("score", tmp_path / "t.jsonl", "--text", "review", "--out", tmp_path / "run", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["samples"] == 16


def test_unlabelled_validation_gives_information_and_no_value(tmp_path: Path, uniqueinfo: Caller) -> None:
    val = files.csv(tmp_path / "val.csv", files.table().drop(columns="kind"))
    answer = uniqueinfo(
        "score", files.csv(tmp_path / "t.csv"), "--val", val, "--label", "kind", "--model", "mlp:4",
        "--out", tmp_path / "run",
    )  # fmt: skip
    assert "the validation data has no labels" in answer.out
    scores = load(tmp_path / "run")
    assert scores.functional is not None
    assert scores.value is None


def test_a_sketch_gives_every_score_an_error(tmp_path: Path, uniqueinfo: Caller) -> None:
    data = files.npz(tmp_path / "a.npz")
    command = ("score", data, "--model", "mlp:8", "--lr", 0.001, "--steps", 5)
    assert uniqueinfo(*command, "--out", tmp_path / "exact").code == 0
    assert uniqueinfo(*command, "--sketch", 10, "--out", tmp_path / "run").code == 0
    exact, found = load(tmp_path / "exact").frame(), load(tmp_path / "run").frame()
    apart = (found["functional"] - exact["functional"]).abs()
    assert (apart <= found["functional_error"]).mean() >= 0.95  # what an error promises


@pytest.mark.parametrize("model", ["linear", "mlp:4"])
def test_numbers_are_predicted(tmp_path: Path, uniqueinfo: Caller, model: str) -> None:
    answer = uniqueinfo(
        "score", files.csv(tmp_path / "t.csv"), "--label", "size", "--model", model, "--out", tmp_path / "run"
    )
    assert answer.code == 0
    assert "held out" in answer.out
    assert load(tmp_path / "run").settings["classes"] is None


def test_findings_name_the_training_and_the_suspects_of_the_page(tmp_path: Path, uniqueinfo: Caller) -> None:
    command = ("score", files.npz(tmp_path / "a.npz"), "--lr", 0.01, "--steps", 20, "--out", tmp_path / "run")
    first, again = uniqueinfo(*command).out, uniqueinfo(*command).out
    assert "(20 steps of gradient descent at rate 0.01)" in first
    sentence = ui.mislabeled(load(tmp_path / "run")).sentence
    assert sentence in first
    assert sentence in again


def test_labels_are_looked_at_once_for_the_page_and_the_terminal(
    tmp_path: Path, uniqueinfo: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("uniqueinfo.applications.suspicion.judged")
    asked: list[int] = []

    def counted(*given: Any, **settings: Any) -> Verdict:
        asked.append(1)
        return judge(*given, **settings)

    monkeypatch.setattr(module, "judge", counted)
    assert "wrong" in uniqueinfo("score", files.npz(tmp_path / "a.npz"), "--out", tmp_path / "run").out
    assert len(asked) == 1
    uniqueinfo("report", tmp_path / "run", "--json")
    assert len(asked) == 2


def test_the_training_named_is_the_training_run(tmp_path: Path, uniqueinfo: Caller) -> None:
    data = files.npz(tmp_path / "a.npz")
    named = {
        "descent": ("--lr", 0.01, "--steps", 20, "--momentum", 0.5, "--weight-decay", 0.1),
        "flow": ("--lr", 0.01, "--steps", 20),
        "converged": ("--weight-decay", 0.1),
    }
    for name, options in named.items():
        uniqueinfo("score", data, "--training", name, *options, "--out", tmp_path / name)
    assert load(tmp_path / "descent").settings["training"] == {
        "algorithm": "GradientDescent", "lr": 0.01, "steps": 20, "momentum": 0.5, "weight_decay": 0.1,
        "reduction": "mean", "loss": "mse",
    }  # fmt: skip
    assert load(tmp_path / "flow").settings["training"]["time"] == 20
    assert load(tmp_path / "converged").settings["training"]["algorithm"] == "Converged"


@pytest.mark.parametrize("model", ["linear", "mlp:8"])
def test_a_dry_run_prints_the_plan_and_leaves_nothing(tmp_path: Path, uniqueinfo: Caller, model: str) -> None:
    command = ("score", files.npz(tmp_path / "a.npz"), "--model", model, "--out", tmp_path / "run", "--dry-run")
    said = uniqueinfo(*command).out
    assert all(name in said for name in ("(n)", "(k)", "(D)", "form", "memory", "time"))
    plan = json.loads(uniqueinfo(*command, "--json").out)["plan"]
    assert (plan["samples"], plan["validation"], plan["outputs"]) == (20, 4, 1)
    assert not (tmp_path / "run").exists()
    uniqueinfo(*command[:-1])
    settings = load(tmp_path / "run").settings
    assert (plan["width"], plan["form"]) == (settings["width"], settings["form"])


def test_show_prints_the_most_and_least_informative_and_the_classes(tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", files.csv(tmp_path / "t.csv"), "--label", "kind", "--out", tmp_path / "run")
    said = uniqueinfo("show", tmp_path / "run", "--top", 3).out
    assert all(title in said for title in ("Most informative", "Least informative", "By label"))
    found = json.loads(uniqueinfo("show", tmp_path / "run", "--top", 3, "--by", "colour", "--json").out)
    best = load(tmp_path / "run").frame().nlargest(3, "functional")["id"].tolist()
    assert [row["id"] for row in found["most_informative"]] == best
    assert {row["colour"] for row in found["groups"]} == {"red", "blue"}


def test_show_names_the_columns_there_are(tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", files.npz(tmp_path / "a.npz"), "--out", tmp_path / "run")
    answer = uniqueinfo("show", tmp_path / "run", "--by", "shape")
    assert answer.code == 2
    assert "functional" in answer.err


def test_report_writes_the_page_anew(tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", files.csv(tmp_path / "t.csv"), "--label", "kind", "--out", tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink()
    assert uniqueinfo("report", tmp_path / "run").code == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_report_does_without_samples_whose_files_are_gone(tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", files.csv(tmp_path / "t.csv"), "--label", "kind", "--out", tmp_path / "run")
    (tmp_path / "t.csv").unlink()
    answer = uniqueinfo("report", tmp_path / "run")
    assert answer.code == 0
    assert "not shown" in answer.out


def test_leaks_are_told_on_the_terminal_and_in_the_page(uniqueinfo: Caller, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = (X[:, 0] > 0).astype(int)
    np.savez(tmp_path / "train.npz", X=X[:40], y=y[:40])
    np.savez(tmp_path / "val.npz", X=np.vstack([X[40:], X[7:8]]), y=np.append(y[40:], y[7]))
    command = ["score", tmp_path / "train.npz", "--val", tmp_path / "val.npz", "--out", tmp_path / "run"]
    wanted = "1 training sample is also in the validation data: 7"
    for _ in range(2):  # the second finds the run finished
        assert wanted in uniqueinfo(*command).out
    assert json.loads(uniqueinfo(*command, "--json").out)["copies"]["first"] == ["7"]
    (tmp_path / "run" / "report.html").unlink()
    assert uniqueinfo("report", tmp_path / "run").code == 0
    assert wanted in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
