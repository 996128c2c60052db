from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import uniqueinfo as ui
from uniqueinfo.experiments import paper
from uniqueinfo.experiments.data import Prepared, imagenet, load
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Request


@pytest.mark.slow
def test_resnets_information_is_that_of_the_librarys_score(made_up: Path, tiny: paper.Sizes, tmp_path: Path) -> None:
    request = Request(data=made_up, work=tmp_path)
    dataset = load("cats_dogs", made_up)
    found = paper.functional(paper.resnet(dataset, request, tiny), 0.001, 100)[0]
    train, val = (Prepared(part, imagenet(tiny.pixels)) for part in paper.halves(dataset, tiny.samples))
    scores = ui.score(
        RESNET18.build(request, 1, tiny.pixels),
        train,
        val,
        training=ui.GradientFlow(lr=0.001, time=100.0),
        projection=ui.RandomCoordinates(tiny.per_layer),
    )
    assert scores.functional is not None
    np.testing.assert_allclose(found, scores.functional, rtol=1e-4)  # rows in float32, kept on disk or not


@pytest.mark.slow
def test_rows_are_kept_and_found_again(made_up: Path, tiny: paper.Sizes, tmp_path: Path) -> None:
    request = Request(data=made_up, work=tmp_path)
    dataset = load("cats_dogs", made_up)
    first = paper.functional(paper.resnet(dataset, request, tiny), 0.001, 100)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    again = paper.functional(paper.resnet(dataset, request, tiny), 0.001, 100)
    np.testing.assert_array_equal(first, again)
    shards = [path for path in kept if "manifest" not in path.name]
    assert shards
    assert all(path.stat().st_mtime_ns == kept[path] for path in shards)
    paper.functional(paper.resnet(dataset, request, tiny, head=7), 0.001, 100)
    assert len(list(tmp_path.glob("rows-*"))) == 2  # another last layer has rows of its own


def test_the_papers_rate_is_of_the_mean_loss() -> None:
    assert paper.training(0.001, 2000).filter(1000) == ui.GradientFlow(1e-6, 2000.0, reduction="sum").filter(1000)


def test_accuracy_is_that_of_the_trained_linearization(made_up: Path) -> None:
    dataset = load("mnist_10c", made_up)
    linearization = paper.mlp(dataset, Request(data=made_up), 20)
    run = linearization.train(paper.training(0.01, 50))
    right = run.outputs(linearization.validation).argmax(axis=1) == paper.halves(dataset, 20)[1].labels
    assert paper.accuracy(linearization, 0.01, 50) == right.mean()
