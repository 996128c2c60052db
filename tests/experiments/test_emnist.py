from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from tests.experiments.data import formats
from uniqueinfo.experiments.emnist import moved, pretrain
from uniqueinfo.experiments.networks import paper_cnn


def test_letters_that_can_be_told_apart_are_learnt_and_the_weights_load(tmp_path: Path) -> None:
    labels = np.arange(520, dtype=np.uint8) % 26
    drawn = np.kron(formats.pixels(26, 4, 4), np.ones((1, 7, 7), dtype=np.uint8))  # of squares that a shift leaves
    letters = drawn[labels] // 4 * 3 + formats.pixels(520, 28, 28, seed=1) // 4
    for part in ("train", "test"):
        formats.idx(tmp_path, f"emnist-letters-{part}-images-idx3-ubyte", letters)
        formats.idx(tmp_path, f"emnist-letters-{part}-labels-idx1-ubyte", labels + 1)
    assert pretrain(tmp_path, tmp_path / "cnn.npz", epochs=10) > 0.9
    network = paper_cnn(2, tmp_path / "cnn.npz")
    with np.load(tmp_path / "cnn.npz") as kept:
        assert torch.equal(network.get_parameter("0.weight"), torch.from_numpy(kept["0.weight"]))


def test_moved_letters_stay_letters() -> None:
    """A blot in the middle stays about where it is and as dark as it was, but is another for every picture."""
    pictures = torch.full((50, 1, 28, 28), -2.0)
    pictures[:, :, 12:16, 12:16] = 1.0
    found = moved(pictures)
    assert found.shape == pictures.shape
    assert found.min() >= -2.0 - 1e-6
    assert found.max() <= 1.0 + 1e-6  # float32
    assert (found[:, :, 8:20, 8:20].flatten(1).amax(dim=1) > 0.5).all()
    ink = (found + 2).flatten(1).sum(dim=1) / (pictures + 2).flatten(1).sum(dim=1)
    assert ((ink > 0.7) & (ink < 1.4)).all()  # scaled by up to a tenth, both ways
    assert not torch.equal(found[0], found[1])
