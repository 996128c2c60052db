"""Table 1 on a network small enough to retrain in seconds, and the settings of its columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tests import realdata
from uniqueinfo.baselines.descent import Descent
from uniqueinfo.experiments import table1
from uniqueinfo.experiments.data import imagenet, load
from uniqueinfo.experiments.runner import Request, reproduce
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, RESNET50, Column, Effort, Problem
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.runs.photos.resnet50 import ResNet50
from uniqueinfo.training import GradientDescent, GradientFlow


def tiny(request: Request, count: int | None = None) -> Problem:
    torch.manual_seed(request.seed)
    X = torch.randn(60, 5)
    y = (X[:, 0] + 0.3 * X[:, 1] * X[:, 2] > 0).long()
    network = nn.Sequential(nn.Linear(5, 300), nn.Tanh(), nn.Linear(300, 1)).eval()
    return Problem(network, (X[:40], y[:40]), (X[40:], y[40:]), "tiny")


@pytest.fixture
def column() -> Column:
    effort = Effort(left_out=14, influenced=12, lissa_batch=8, momentum=0.5, steps=20)
    return replace(COLUMNS[0], lr=0.02, steps=40, recursions=5, make=tiny, effort={"small": effort})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, column: Column) -> None:
    monkeypatch.setattr(table1, "COLUMNS", (column,))


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_run_leaves_a_table_with_intervals_beside_the_papers_figures(tmp_path: Path) -> None:
    result = reproduce("table1", Request(), tmp_path)
    assert len(result.table) == 12
    mine = result.table.query("method == 'linearization' and measure == 'predictions'")
    assert (mine.pearson > 0.98).all()
    assert mine.paper.tolist() == [0.993, 0.993]
    assert (mine.low <= mine.pearson).all()
    assert (mine.pearson <= mine.high).all()
    found = json.loads((tmp_path / "table1/figures.json").read_text(encoding="utf-8"))
    claims = {claim["what"]: claim for claim in found["claims"]}
    assert claims["MNIST MLP, λ = 0: predictions at least 0.98"]["holds"]
    assert (tmp_path / "table1/table1.png").is_file()


def test_a_cell_holds_scores_against_trainings_without_the_samples(column: Column) -> None:
    cell = compute(column, True, Request())
    problem, training = tiny(Request()), column.training("small", decay=True)
    X, y = problem.train
    descent = Descent(problem.network, X, y[:, None].float(), training)
    weights = descent.train([[], [int(cell.samples[3])]])
    moved = sum(float((w[1] - w[0]).square().sum()) for w in weights.values()) / 2
    assert cell.truth["weights"][3] == pytest.approx(moved, rel=1e-3)  # float32: changes of 1e-3 in weights of 0.1
    assert (len(cell.truth["weights"]), len(cell.scores["influence"]["weights"])) == (14, 12)


def test_a_finished_cell_is_found_again(column: Column, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(work=tmp_path)
    first = compute(column, False, request)

    def never(*_: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(Descent, "train", never)
    again = compute(column, False, request)
    np.testing.assert_array_equal(first.truth["predictions"], again.truth["predictions"])
    assert first.seconds == again.seconds
    assert first.facts == again.facts


@pytest.mark.parametrize("column", [*COLUMNS, RESNET50], ids=lambda column: column.key)
def test_fewer_steps_go_as_far_as_the_papers(column: Column) -> None:
    for decay in (False, True):
        small, paper = (column.training(scale, decay) for scale in ("small", "paper"))
        assert small.filter(1000).horizon == pytest.approx(paper.filter(1000).horizon)
        assert small.weight_decay == paper.weight_decay == (1.0 if decay else 0.0)


def test_the_papers_scale_takes_the_papers_steps_and_its_formula() -> None:
    assert COLUMNS[0].training("paper", decay=False) == GradientDescent(0.001, 2000)
    assert COLUMNS[0].scored("paper", decay=True) == GradientFlow(0.001, 2000, 1.0)
    assert COLUMNS[0].scored("small", decay=True) == COLUMNS[0].training("small", decay=True)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["mlp", "cnn_pretrained", "cnn"])
def test_columns_of_digits_are_read_from_real_data(key: str) -> None:
    realdata.path("mnist_4v9.npz")
    problem = _column(key).make(Request(data=realdata.FOLDER), None)
    assert problem.train[0].shape == (1000, 1, 28, 28)
    assert problem.train[1].bincount().tolist() == [491, 509]
    assert problem.network(problem.val[0][:3]).shape == (3, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "network", "file"),
    [(COLUMNS[2], ResNet18, "resnet18_imagenet_backbone.npz"), (RESNET50, ResNet50, "resnet50_imagenet_v1.npz")],
)
def test_what_is_trained_of_resnet_gives_the_whole_networks_outputs(
    column: Column, network: Callable[..., nn.Module], file: str
) -> None:
    weights = realdata.path(file)
    problem = column.make(Request(data=realdata.FOLDER), 40)
    torch.manual_seed(0)
    whole = network(1, weights).eval()
    photos = load("cats_dogs", realdata.FOLDER)["train"].draw(40, 0)
    with torch.no_grad():
        wanted = whole(imagenet(64).all(photos.inputs.take(np.arange(3))))
        found = problem.network(problem.train[0][:3])
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    assert len(problem.train[1]) == 40


def _column(key: str) -> Column:
    return next(column for column in COLUMNS if column.key == key)
