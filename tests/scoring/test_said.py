"""Networks and data that give numbers and no sense: each is refused, or said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

import uniqueinfo as ui
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.runs.readers import Reading
from uniqueinfo.scoring.arrays import score_linearization
from uniqueinfo.types import Floats, Indices

TRAINING = ui.Converged(1e-2)


@pytest.fixture(name="X")
def features() -> Floats:
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture(name="Y")
def classes(X: Floats) -> Indices:
    return (X[:, 0] > 0).astype(np.intp) + (X[:, 1] > 0)


def test_outputs_that_no_label_names_are_said(X: Floats, Y: Indices) -> None:
    with pytest.warns(UserWarning, match="the network has 7 outputs, and labels go from 0 to 2"):
        ui.score(nn.Linear(3, 7), (X, Y), training=TRAINING, progress=False)


def test_samples_without_numbers_are_refused(Y: Indices) -> None:
    with pytest.raises(ui.InputError, match=r"input: samples of shape \(0,\) hold no number"):
        ui.score(nn.Linear(3, 2), (np.zeros((30, 0), np.float32), Y))


class Complex(nn.Module):
    """Complex parameters, or complex outputs of real ones."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return x.to(torch.complex64) @ self.weight.to(torch.complex64)


@pytest.mark.parametrize(
    ("dtype", "words"),
    [(torch.complex64, "parameter 'weight' is complex"), (torch.float32, r"the network returned torch\.complex64")],
)
def test_complex_networks_are_refused(dtype: torch.dtype, words: str, X: Floats, Y: Indices) -> None:
    with pytest.raises(ui.InputError, match=words):
        ui.score(Complex(dtype), (X.astype(np.float32), Y), training=TRAINING)


@pytest.mark.parametrize("how", ["features", "network", "file"])
def test_a_number_without_a_square_is_named(how: str, X: Floats, Y: Indices, tmp_path: Path) -> None:
    large = X.copy()
    large[4, 1] = 1e308
    np.save(tmp_path / "X.npy", large)
    calls: dict[str, Callable[[], object]] = {
        "network": lambda: ui.score(nn.Linear(3, 3).double(), (large, Y), training=TRAINING),
        "features": lambda: ui.score_features(large, Y, training=TRAINING),
        "file": lambda: ui.score_features(tmp_path / "X.npy", Y, training=TRAINING),
    }
    with pytest.raises(ui.InputError, match=r"sample 4 holds a number beyond ±1e\+150"):
        calls[how]()


class Changing(Dataset[tuple[Tensor, int]]):
    """The same for a while, and then something else."""

    def __init__(self, X: Floats, reads: int) -> None:
        self.X, self.left = X, reads

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        self.left -= 1
        return torch.tensor(self.X[index] * (1 if self.left > 0 else 2), dtype=torch.float32), index % 3


@pytest.mark.parametrize("reads", [40, 70])
def test_samples_that_change_between_passes_are_noticed(reads: int, X: Floats) -> None:
    with pytest.raises(ui.InputError, match=r"sample \d+ is something else than when it was first read"):
        ui.score(nn.Linear(3, 3), Changing(X, reads), training=TRAINING, progress=False)


def job(folder: Path, **given: Any) -> Job:
    rows = [f"{a % 7},{a % 5},{a % 2}" for a in range(30)]
    (folder / "t.csv").write_text("\n".join(["a,b,label", *rows]) + "\n")
    return Job(folder / "t.csv", given.pop("model", ModelChoice("linear")), **given)


def test_a_budget_that_is_no_size_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ui.InputError, match="memory='lots' is not a size"):
        job(tmp_path, memory="lots")


def test_embedding_what_holds_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ui.InputError, match=r"--embed some/model: .*t\.csv has no column of texts to embed"):
        prepare(job(tmp_path, reading=Reading(embed="some/model")))


def test_a_huge_cell_of_a_table_is_named(tmp_path: Path) -> None:
    given = job(tmp_path)
    lines = given.train.read_text().splitlines()
    given.train.write_text("\n".join([*lines[:5], "1e308,1,0", *lines[6:]]) + "\n")
    with pytest.raises(ui.InputError, match=r"column 'a': row \d+, counted from 0, holds a number beyond"):
        prepare(given)


def test_a_network_of_ones_own_has_as_many_outputs_as_classes(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("from torch import nn\n\ndef make():\n    return nn.Linear(2, 7)\n")
    prepared = prepare(job(tmp_path, model=ModelChoice(f"{tmp_path / 'net.py'}:make")))
    with pytest.raises(ui.InputError, match="the network has 7 outputs for 2 classes; give it 1 or 2"):
        prepared.problem(prepared.execution(tmp_path / "run"))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("way", ["memory", "out", "primal", "projected", "linearized", "cross-entropy"])
def test_classes_of_double_networks_stay_classes(outputs: int, way: str, X: Floats, Y: Indices, tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, outputs)).double()
    data = (X, Y if outputs == 3 else Y % 2)
    options: dict[str, dict[str, Any]] = {
        "out": {"out": tmp_path / "run"},
        "primal": {"form": "primal"},
        "projected": {"projection": ui.RandomCoordinates(10)},
    }
    if way == "linearized":
        found = ui.linearize(network, data, data, progress=False)
        scores = score_linearization(found, found.validation, TRAINING, labels=data[1], progress=False)
    else:
        training = ui.Converged(1e-2, loss="cross-entropy") if way == "cross-entropy" else TRAINING
        scores = ui.score(network, data, data, training=training, progress=False, **options.get(way, {}))
    assert set(np.unique(scores.targets)) == {0.0, 1.0}
    assert len(ui.mislabeled(scores).frame()) <= len(X)


def test_losses_are_of_the_targets_that_were_given(X: Floats) -> None:
    """A class of 1 was above it by rounding, and refused."""
    found = Linearization.from_features(X, np.ones(30), np.random.default_rng(1).normal(size=30) * 10)
    assert float((found.initial + found.residual).max()) > 1
    assert len(found.train(ui.Converged(1e-2, loss="cross-entropy")).outputs()) == 30
