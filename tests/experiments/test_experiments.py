"""Every experiment on made-up data: figures, tables and claims that follow from the table."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.experiments import (
    architectures,
    informative,
    initialization,
    lengths,
    paper,
    sentiment,
    sources,
    sources_extra,
)
from uniqueinfo.experiments.data import load
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import NOT_RUN, Request, Result
from uniqueinfo.jacobian import RandomCoordinates
from uniqueinfo.linearization.network import linearize


@pytest.fixture
def request_(made_up: Path, tmp_path: Path, tiny: paper.Sizes) -> Request:
    return Request(data=made_up, work=tmp_path)


def claim(result: Result, start: str) -> Any:
    (found,) = [claim for claim in result.claims if claim.what.startswith(start)]
    return found


@pytest.mark.slow
def test_informative_compares_rare_with_common_classes(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informative, "_TASKS", informative._TASKS[:2])
    monkeypatch.setitem(paper.SIZES, "small", paper.Sizes(15, 32, 4))
    result = informative.run(request_)
    assert set(result.figures) == set(result.captions) == {"cassava", "mnist_4v9"}
    assert result.data["cassava"] == load("cassava", request_.data).fingerprint
    leaves = result.table[result.table.dataset == "cassava"]
    by_class = leaves.groupby("class").functional
    common = leaves[~leaves["class"].isin(["healthy", "cbb"])].functional.mean()
    found = claim(result, "Cassava: mean information of healthy")
    assert found.ours == pytest.approx(by_class.mean()["healthy"] / common)
    assert found.holds == (found.low > 1)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [3, 10])
def test_sources_runs_on_svhn_where_it_is_there(
    request_: Request, monkeypatch: pytest.MonkeyPatch, outputs: int
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    monkeypatch.setitem(sources._SIZES, "small", {"samples_each": 4, "per_layer": 4, "outputs": outputs})
    result = sources.run(request_)
    assert set(result.figures) == {"svhn-resnet-18", "svhn-resnet-50"}
    assert claim(result, "SVHN against MNIST, DenseNet-121").ours == NOT_RUN
    assert "in place of the paper's DenseNet-121" in claim(result, "SVHN against MNIST, ResNet-50").note
    found = claim(result, "SVHN against MNIST, ResNet-18")
    rows = result.table[result.table.comparison == "svhn-resnet-18"]
    means = rows.groupby("source").functional.mean()
    assert rows.source.value_counts().to_dict() == {"MNIST": 4, "SVHN": 4}
    assert found.ours == pytest.approx(means["SVHN"] / means["MNIST"])


@pytest.mark.slow
def test_missing_data_are_told_without_a_path_of_this_machine(
    request_: Request, made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sources._SIZES, "small", {"samples_each": 3, "per_layer": 4, "outputs": 1})
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for path in made_up.iterdir():
        if path.suffix != ".mat":
            (folder / path.name).symlink_to(path)
    monkeypatch.setattr(sources_extra, "PAIRS", (sources.PAIRS[0], *sources_extra.PAIRS))
    result = sources_extra.run(replace(request_, data=folder, work=tmp_path / "work"))
    found = claim(result, "SVHN against MNIST, ResNet-18")
    assert found.ours == NOT_RUN
    assert "train_32x32.mat in the data folder" in found.note
    assert str(folder) not in found.note
    assert claim(result, "UCI digits against MNIST").holds is None
    over_photos = claim(result, "MNIST over photographs against MNIST")
    assert over_photos.holds == (over_photos.low > 1)


@pytest.mark.slow
def test_lengths_measures_every_pair(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "_STEPS", (300, 1000))
    result = lengths.run(request_)
    expected = np.corrcoef(result.table["t=300"], result.table["t=1000"])[0, 1]
    assert claim(result, "mean correlation between lengths of all pairs").ours == pytest.approx(expected)


@pytest.mark.slow
def test_initialization_draws_last_layers_that_differ(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(initialization._HEADS, "small", 2)
    result = initialization.run(request_)
    expected = np.corrcoef(result.table["head 0"], result.table["head 1"])[0, 1]
    assert expected < 1 - 1e-6
    assert claim(result, "mean correlation between initializations").ours == pytest.approx(expected)


def test_starting_from_zero_changes_nothing_for_a_network_that_does() -> None:
    torch.manual_seed(0)
    first, last = nn.Linear(5, 4), nn.Linear(4, 1, bias=False)
    X, y = torch.randn(12, 5), torch.arange(12) % 2

    def both() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = linearize(nn.Sequential(first, nn.Tanh(), last), (X, y), (X, y), projection=RandomCoordinates(1000))
        own = paper.functional(known, initialization._LR, initialization._STEPS)[0]
        return paper.from_zero(known, initialization._LR, initialization._STEPS), own

    centred, own = both()
    assert not np.allclose(centred, own)
    with torch.no_grad():  # units of opposite weights cancel in pairs
        last.weight[:] = torch.tensor([1.0, -1.0, 2.0, -2.0])
        first.weight[1::2], first.bias[1::2] = first.weight[::2].clone(), first.bias[::2].clone()
    centred, own = both()
    np.testing.assert_allclose(centred, own, rtol=1e-6)  # the outputs are float32


@pytest.mark.slow
def test_architectures_names_what_it_could_not_run(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    for absent in ("torchvision", "efficientnet_lite_pytorch"):
        monkeypatch.setitem(sys.modules, absent, None)
    monkeypatch.setattr(architectures, "_TOP", 5)
    result = architectures.run(request_)
    missing = [claim.what.split()[0] for claim in result.claims if claim.ours == NOT_RUN]
    assert missing == ["ResNet-34", "DenseNet-121", "EfficientNet-Lite0"]
    columns = ["ResNet-18", "ResNet-18, last layer"]
    expected = np.corrcoef(result.table[columns[0]], result.table[columns[1]])[0, 1]
    assert claim(result, "correlation of ResNet-18 and ResNet-18, last layer").ours == pytest.approx(expected)


@pytest.mark.slow
def test_architectures_correlates_within_runs_of_its_own_last_layers(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(architectures, "_NETWORKS", (RESNET18, replace(RESNET18, title="another")))
    monkeypatch.setattr(architectures, "_TOP", 5)
    monkeypatch.setitem(architectures._RUNS, "small", 2)
    result = architectures.run(request_)
    # The same network twice: within a run its last layer is the same, so that runs averaged over agree wholly.
    assert claim(result, "correlation of ResNet-18 and another").ours == pytest.approx(1)
    overlap = claim(result, "of the 5 most informative")
    assert "in single ones 5, 5" in overlap.note
    assert (overlap.ours, overlap.low, overlap.high) == (5, 5, 5)  # whichever runs are drawn again
    first, second = (
        paper.resnet(load("cats_dogs", request_.data), request_, paper.SIZES["small"], head) for head in (0, 1)
    )
    scores = [paper.functional(known, architectures._LR, architectures._STEPS)[0] for known in (first, second)]
    np.testing.assert_allclose(result.table["ResNet-18"], np.mean(scores, axis=0))


def test_an_overlap_by_chance_is_what_drawing_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(architectures, "_TOP", 4)
    rng = np.random.default_rng(0)
    first, second = (np.argsort(rng.random((4000, 20)), axis=1) < 4 for _ in range(2))
    drawn = (first & second).sum(axis=1)
    for shared in (1, 2):
        # The share of 4000 draws has a standard error below 0.008.
        found = architectures._overlap_by_chance(shared, 20)
        assert found == pytest.approx(np.mean(drawn >= shared), abs=0.03)


def test_sentiment_correlates_with_the_length_in_words(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, sentiment._MINILM, None)
    monkeypatch.setattr(sentiment, "_HIDDEN", 20)
    folder = request_.data
    assert folder is not None
    result = sentiment.run(request_)
    assert set(result.figures) == {"glove"}
    table = result.table
    expected = np.corrcoef(table.functional, table.length)[0, 1]
    assert claim(result, "GloVe, 100 numbers: correlation").ours == pytest.approx(expected)
    assert claim(result, "correlation with length, MiniLM").ours == NOT_RUN
