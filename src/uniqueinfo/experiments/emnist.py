"""``python -m uniqueinfo.experiments.emnist --data DIR --out FILE``: pretrains the paper's CNN on EMNIST letters.

For those who have the images, as EMNIST's IDX files or packed; the data folder holds its authors' weights, which the
other experiments use. `letters` compares both.
"""

from __future__ import annotations

import argparse
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

_BATCH, _LR = 128, 1e-3


def pretrain(data: Path, out: Path, *, epochs: int = 10, seed: int = 0) -> float:
    """Train on the letters as they are stored, transposed; write the weights by name; give the test accuracy."""
    network, accuracy = pretrained_cnn(load("emnist_letters", data), epochs, seed)
    with replacing(out) as beside, beside.open("wb") as file:
        np.savez(file, allow_pickle=False, **{name: tensor.numpy() for name, tensor in network.state_dict().items()})
    return accuracy


def pretrained_cnn(letters: Dataset[Pixels], epochs: int, seed: int) -> tuple[nn.Sequential, float]:
    """The CNN after some passes over the letters, by Adam, and its accuracy on the test letters."""
    torch.manual_seed(seed)
    network = paper_cnn(outputs=len(letters.classes))
    train = _tensors(letters["train"])
    optimizer = torch.optim.Adam(network.parameters(), lr=_LR)
    with progress("Letters", epochs * len(train)) as advance:
        for _ in range(epochs):
            for inputs, labels in DataLoader(train, _BATCH, shuffle=True):
                optimizer.zero_grad()
                loss: Tensor = nn.functional.cross_entropy(network(inputs), labels)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                advance(len(labels))
    return network, read(network, letters["test"])


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
    parser.add_argument("--epochs", type=int, default=10)
    given = parser.parse_args()
    print(f"test accuracy {pretrain(given.data, given.out, epochs=given.epochs):.4f}, weights in {given.out}")
