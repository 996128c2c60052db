"""Scores by another loss than squared error: what they are, and that every way gives the same."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from torch import nn

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.oracles import any_loss
from tests.oracles.compare import close
from uniqueinfo.errors import InputError
from uniqueinfo.scores.table import Scores
from uniqueinfo.types import Floats

RIDGE = ui.Converged(0.02, loss="cross-entropy")
FLOW = ui.GradientFlow(0.3, 30.0, loss="cross-entropy")


def wine() -> tuple[Floats, Any, Floats, Any]:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X[::4], y[::4], X[1::6], y[1::6]


def scored(training: Any = RIDGE, **how: Any) -> Scores:
    X, y, X_val, y_val = wine()
    return ui.score_features(X, y, X_val, y_val, training=training, head="paper", **how)


def test_every_measure_is_that_of_training_again() -> None:
    X, y, X_val, y_val = wine()
    J, J_val = (np.einsum("nd,kl->nkld", each, np.eye(3)).reshape(len(each), 3, -1) for each in (X, X_val))
    start = np.zeros((len(X), 3))
    scores = scored()
    full = any_loss.weights(J, np.eye(3)[y], start, RIDGE)
    for sample in (0, 7):
        without = any_loss.weights(J, np.eye(3)[y], start, RIDGE, [sample])
        before, after = J_val @ full, J_val @ without
        p, q = softmax(before, axis=1), softmax(after, axis=1)
        kl = (p * np.log(p / q)).sum(axis=1).mean() / math.log(2)
        loss = [-np.log(each[np.arange(len(y_val)), y_val]).mean() for each in (p, q)]
        assert scores.functional is not None
        assert scores.value is not None
        assert scores.kl is not None
        close(scores.weight[sample], np.square(full - without).sum() / 2, rtol=1e-6)
        close(scores.functional[sample], np.square(before - after).sum(axis=1).mean() / 2, rtol=1e-6)
        close(scores.kl[sample], kl, rtol=1e-6)
        close(scores.value[sample], loss[1] - loss[0], rtol=1e-6)
        close(scores.loo_outputs[sample], J[sample] @ without, rtol=1e-6)
        close(scores.loo_loss[sample], -np.log(softmax(J[sample] @ without)[y[sample]]), rtol=1e-6)


def test_probabilities_are_the_softmax_of_the_outputs() -> None:
    scores = scored()
    close(scores.loo_probabilities(), softmax(scores.loo_outputs, axis=1), rtol=1e-12)


@pytest.mark.parametrize("training", [RIDGE, FLOW], ids=["ridge", "flow"])
@pytest.mark.parametrize("way", ["out", "folder", "local", "dual", "small partitions"])
def test_every_way_gives_the_same(training: Any, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where: dict[str, dict[str, Any]] = {
        "out": {"out": tmp_path / "out"},
        "folder": {"folder": tmp_path / "folder"},
        "local": {"engine": "local"},
        "dual": {"form": "dual"},
        "small partitions": {},
    }
    wanted = scored(training, form="primal")
    if way == "small partitions":
        monkeypatch.setattr("uniqueinfo.scoring.underway.partition", lambda *_: 10)
    check_same(scored(training, **{"form": "primal"} | where[way]), wanted)


@pytest.mark.slow
def test_a_cluster_gives_the_same(client: Any) -> None:
    found = scored(FLOW, form="primal", engine=ui.DaskEngine(client))
    check_same(found, scored(FLOW, form="primal"))


def test_the_command_line_takes_a_loss(tmp_path: Path, uniqueinfo: Caller) -> None:
    X, y, X_val, y_val = wine()
    np.savez(tmp_path / "train.npz", X=X, y=y)
    np.savez(tmp_path / "val.npz", X=X_val, y=y_val)
    answer = uniqueinfo(
        *["score", tmp_path / "train.npz", "--val", tmp_path / "val.npz", "--out", tmp_path / "run"],
        *["--loss", "cross-entropy", "--training", "converged", "--weight-decay", "0.02"],
    )
    assert answer.code == 0, answer.err
    check_same(
        ui.load(tmp_path / "run"), ui.score_features(X, y, X_val, y_val, training=RIDGE), rtol=1e-4
    )  # read as float32


def check_same(found: Scores, wanted: Scores, rtol: float = 1e-6) -> None:
    for name in ("weight", "functional", "kl", "value", "loo_outputs", "outputs", "loo_loss"):
        ours, theirs = getattr(found, name), getattr(wanted, name)
        close(ours, theirs, rtol=rtol, atol=rtol / 1000 * float(np.abs(theirs).max()))


def test_auto_stops_where_the_leave_one_out_loss_is_least() -> None:
    scores = scored(ui.Auto(loss="cross-entropy"))
    curve = scores.settings["stopping"]
    assert scores.settings["training"]["loss"] == "cross-entropy"
    assert scores.settings["training"]["time"] == curve["steps"][int(np.argmin(curve["loo_loss"]))]
    assert scores.settings["training"]["weight_decay"] == curve["decays"][0] == 0
    assert len(curve["decays"]) == len(curve["least_loss"])
    close(scores.loo_loss.mean(), min(curve["loo_loss"]), rtol=0.15)  # the curve is of first order in the removal


def test_a_network_with_cross_entropy_follows_training_it_again() -> None:
    """A wide network moves little, so that its linearization and it agree: 3 % are left."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4096), nn.Tanh(), nn.Linear(4096, 3))
    with torch.no_grad():
        list(model.parameters())[2].mul_(0.3)
    X, y = torch.randn(24, 4), torch.arange(24) % 3
    training = ui.GradientDescent(0.01, 60, loss="cross-entropy")
    scores = ui.score(model, (X, y), (X, y), training=training, projection=None)
    start = {name: value.clone() for name, value in model.state_dict().items()}

    def trained(keep: list[int]) -> torch.Tensor:
        model.load_state_dict(start)
        for _ in range(60):
            loss = nn.functional.cross_entropy(model(X[keep]), y[keep])
            for parameter, slope in zip(
                model.parameters(), torch.autograd.grad(loss, list(model.parameters())), strict=True
            ):
                parameter.data -= 0.01 * slope
        found: torch.Tensor = model(X).detach()
        return found

    full = trained(list(range(24)))
    truth = [float((full - trained([j for j in range(24) if j != i])).square().sum() / 48) for i in range(6)]
    assert scores.functional is not None
    close(scores.functional[:6], truth, rtol=0.1)


@pytest.mark.parametrize("question", ["mislabeled", "compare", "redundancy", "summarize", "attribute"])
def test_questions_take_scores_of_cross_entropy(question: str) -> None:
    scores = scored(FLOW)
    options: dict[str, Any] = {"compare": {"by": wine()[1]}, "attribute": {"sample": 3}}.get(question, {})
    assert getattr(ui, question)(scores, **options).sentence


def test_classes_are_wanted_for_cross_entropy() -> None:
    X, _, X_val, _ = wine()
    with pytest.raises(InputError, match="targets must be classes"):
        ui.score_features(X, X[:, 0] + 5, X_val, training=RIDGE)


def test_mixed_outputs_are_refused() -> None:
    model, X = nn.Linear(2, 3), torch.randn(6, 2)
    with pytest.raises(InputError, match="mixed outputs go with squared error alone"):
        ui.score(model, (X, torch.arange(6) % 3), training=FLOW, outputs=ui.OutputSketch(2))


def test_a_sketch_is_refused() -> None:
    with pytest.raises(InputError, match="sketch: follows squared error alone"):
        scored(sketch=4)
