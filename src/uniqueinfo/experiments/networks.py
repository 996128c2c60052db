"""The networks of the experiments: the paper's MLP and CNN."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from uniqueinfo.runs.photos.npz_weights import fill_from_npz


def mlp(inputs: int = 28 * 28, hidden: int = 1024, outputs: int = 1) -> nn.Sequential:
    """The paper's network for MNIST: one hidden layer of ReLU units."""
    return nn.Sequential(nn.Flatten(), nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def paper_cnn(outputs: int = 1, weights: Path | None = None) -> nn.Sequential:
    """The paper's CNN of four convolutions for 1 × 28 × 28 images normalized as (x/255 − 0.456)/0.224.

    `weights` (emnist_letters_cnn_pretrained.npz) fills all layers but the last, which has other outputs.
    The pretraining letters were stored transposed; images should be given likewise.
    """
    network = nn.Sequential(
        nn.Conv2d(1, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 256, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 256),
        nn.ReLU(),
        nn.Linear(256, outputs),
    )
    if weights is not None:
        fill_from_npz(network, weights, fresh="11.")
    return network
