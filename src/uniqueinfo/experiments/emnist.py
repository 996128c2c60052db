"""``python -m uniqueinfo.experiments.emnist --data DIR --out FILE``: pretrains the paper's CNN on EMNIST letters.

For those who have the images, as EMNIST's IDX files or packed; the data folder holds its authors' weights, which the
other experiments use. `letters` compares both.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from uniqueinfo.experiments.data import MNIST, Dataset, Part, load
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.progress import progress
from uniqueinfo.store.files import replacing

EPOCHS = 40
_BATCH, _LR = 128, 1e-3
_TURN, _SCALE, _SHEAR, _SHIFT = math.radians(15), 0.1, 0.15, 2 / 14
"""How far letters are moved at most; the last of half a picture's side: two pixels."""


def pretrain(data: Path, out: Path, *, epochs: int = EPOCHS, seed: int = 0) -> float:
    """Train on the letters as they are stored, transposed; write the weights by name; give the test accuracy."""
    network, accuracy = pretrained_cnn(load("emnist_letters", data), epochs, seed)
    with replacing(out) as beside, beside.open("wb") as file:
        np.savez(file, allow_pickle=False, **{name: tensor.numpy() for name, tensor in network.state_dict().items()})
    return accuracy


def pretrained_cnn(letters: Dataset[Pixels], epochs: int, seed: int) -> tuple[nn.Sequential, float]:
    """The CNN after some passes over the letters, each moved at random, and its accuracy on the test letters.

    By Adam, at a rate that falls to 0. Moved letters stand for the many of EMNIST that may not be there: of 13,000
    letters as they are, the CNN learns to read 88 % of others in ten passes, and 92 % where they are moved.
    """
    torch.manual_seed(seed)
    network = paper_cnn(outputs=len(letters.classes))
    train = _tensors(letters["train"])
    optimizer = torch.optim.Adam(network.parameters(), lr=_LR)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * math.ceil(len(train) / _BATCH))
    with progress("Letters", epochs * len(train)) as advance:
        for _ in range(epochs):
            for inputs, labels in DataLoader(train, _BATCH, shuffle=True):
                optimizer.zero_grad()
                loss: Tensor = nn.functional.cross_entropy(network(moved(inputs)), labels)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                schedule.step()
                advance(len(labels))
    return network, read(network, letters["test"])


def moved(pictures: Tensor) -> Tensor:
    """Each picture (n, channels, side, side) turned, scaled, sheared and shifted a little, at random.

    What comes in from outside is as dark as the darkest there is.
    """
    turn, scale, shear, right, down = torch.empty(5, len(pictures)).uniform_(-1, 1)
    cosine, sine = (f(_TURN * turn) / (1 + _SCALE * scale) for f in (torch.cos, torch.sin))
    rows = ((cosine, _SHEAR * shear - sine, _SHIFT * right), (sine, cosine, _SHIFT * down))
    matrices = torch.stack([torch.stack(row, dim=1) for row in rows], dim=1)
    grid = nn.functional.affine_grid(matrices, list(pictures.shape), align_corners=False)
    dark = pictures.min()
    return nn.functional.grid_sample(pictures - dark, grid, align_corners=False) + dark


def read(network: nn.Module, letters: Part[Pixels]) -> float:
    """The share of these letters that the network reads."""
    with torch.inference_mode():
        right = [network(inputs).argmax(1) == labels for inputs, labels in DataLoader(_tensors(letters), _BATCH)]
    return float(torch.cat(right).double().mean())


def _tensors(part: Part[Pixels]) -> TensorDataset:
    return TensorDataset(MNIST.all(part.inputs), torch.from_numpy(part.labels))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m uniqueinfo.experiments.emnist", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of EMNIST's IDX files")
    parser.add_argument("--out", type=Path, required=True, help="file of weights to write, .npz")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    given = parser.parse_args()
    print(f"test accuracy {pretrain(given.data, given.out, epochs=given.epochs):.4f}, weights in {given.out}")
