from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from tests.experiments.data import formats
from uniqueinfo.experiments.emnist import pretrain
from uniqueinfo.experiments.networks import paper_cnn


def test_letters_that_can_be_told_apart_are_learnt_and_the_weights_load(tmp_path: Path) -> None:
    labels = np.arange(520, dtype=np.uint8) % 26
    letters = formats.pixels(26, 28, 28)[labels] // 2 + formats.pixels(520, 28, 28, seed=1) // 2
    for part in ("train", "test"):
        formats.idx(tmp_path, f"emnist-letters-{part}-images-idx3-ubyte", letters)
        formats.idx(tmp_path, f"emnist-letters-{part}-labels-idx1-ubyte", labels + 1)
    assert pretrain(tmp_path, tmp_path / "cnn.npz", epochs=10) > 0.9
    network = paper_cnn(2, tmp_path / "cnn.npz")
    with np.load(tmp_path / "cnn.npz") as kept:
        assert torch.equal(network.get_parameter("0.weight"), torch.from_numpy(kept["0.weight"]))
