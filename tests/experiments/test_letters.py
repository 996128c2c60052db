from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.experiments.data import formats
from uniqueinfo.experiments import letters
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.experiments.runner import Request
from uniqueinfo.experiments.table1_problems import COLUMNS, Effort


@pytest.mark.slow
def test_a_cell_from_each_file_of_weights_and_the_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formats.mnist(tmp_path, train=200)
    formats.emnist(tmp_path)
    torch.manual_seed(1)
    weights = {name: tensor.numpy() for name, tensor in paper_cnn(26).state_dict().items()}
    with (tmp_path / "emnist_letters_cnn_pretrained.npz").open("wb") as file:
        np.savez(file, allow_pickle=False, **weights)
    monkeypatch.setattr(letters, "EPOCHS", 1)
    monkeypatch.setattr(letters, "_RUNS", 2)
    monkeypatch.setattr(letters, "_EFFORT", Effort(left_out=6, influenced=0, lissa_batch=4, flow=True, samples=16))
    shorter = replace(COLUMNS[1], steps=20, recursions=3)
    monkeypatch.setattr(letters, "COLUMNS", (COLUMNS[0], shorter))
    result = letters.run(Request(data=tmp_path, work=tmp_path / "work"))
    found: dict[str, Any] = {claim.what: claim for claim in result.claims}
    for what in ("weights, linearization", "predictions, both ends"):
        own, published, gap = (found[f"{name}: {what}"] for name in ("own", "published", "own − published"))
        assert gap.ours == pytest.approx(own.ours - published.ours)
        assert gap.holds == (gap.low <= 0 <= gap.high)
    assert {"own: test letters read", "published: test letters read"} <= found.keys()


def test_weights_of_our_own_fill_all_but_the_last_layer() -> None:
    weights = {name: tensor.numpy() for name, tensor in paper_cnn(26).state_dict().items()}
    filled = letters._filled(weights)
    assert torch.equal(filled.get_parameter("6.weight"), torch.from_numpy(weights["6.weight"]))
    assert filled.get_parameter("11.weight").shape == (1, 256)
