from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests import realdata
from uniqueinfo.experiments import transfer
from uniqueinfo.experiments.runner import Request
from uniqueinfo.experiments.summaries import Study
from uniqueinfo.training import GradientDescent


def test_the_other_network_has_two_hidden_layers() -> None:
    network = transfer.two_hidden()
    assert [tuple(p.shape) for p in network.parameters() if p.ndim == 2] == [(1024, 784), (1024, 1024), (1, 1024)]
    assert network(torch.zeros(2, 1, 28, 28)).shape == (2, 1)


@pytest.mark.slow
def test_scores_of_one_network_choose_samples_for_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = realdata.path("mnist_4v9.npz").parent
    study = Study(("iterative", "random"), (0.3, 0.5, 0.7), 1, GradientDescent(0.002, 10, momentum=0.9), samples=40)
    monkeypatch.setitem(transfer._STUDIES, "small", study)
    result = transfer.run(Request("small", folder, work=tmp_path))
    assert len(result.table) == 2 * 4
    everything = result.table[result.table["removed"] == 0]
    assert (everything["retrained"] > 0.6).all()
    assert (result.table["retrained"] != result.table["accuracy"]).any()
