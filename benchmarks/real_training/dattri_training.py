"""The two trainings of the package dattri's own benchmark, as its code (0.3.0) has them: MNIST digits, SGD."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer
from torch.utils.data import DataLoader

from benchmarks.data import FOLDER
from uniqueinfo.types import Floats

_SAMPLES, _QUERIES = 5000, 500


class Recorder(Protocol):
    """What is told of every step."""

    def step(self, batch: Tensor, outputs: Tensor) -> None:
        """After `optimizer.step()`: positions of the samples, and their outputs before it."""


Recording = Callable[[nn.Module, Optimizer], Recorder]


@dataclass(frozen=True)
class Setting:
    """A network and how it is trained."""

    name: str
    network: Callable[[], nn.Module]
    batch: int
    epochs: int
    momentum: float = 0.0
    lr: float = 0.01

    def optimizer(self, model: nn.Module) -> Optimizer:
        return SGD(model.parameters(), self.lr, momentum=self.momentum)


@dataclass(frozen=True, eq=False)
class Digits:
    """Pixels (n, 784) and classes to train on, and those whose losses are asked for."""

    X: Tensor
    y: Tensor
    X_query: Tensor
    y_query: Tensor

    def losses(self, model: nn.Module) -> Floats:
        """Of every query, without dropout."""
        with torch.no_grad():
            return self.losses_of(model.eval()(self.X_query))

    def losses_of(self, outputs: Tensor) -> Floats:
        """From outputs (m, k)."""
        found: Floats = nn.functional.cross_entropy(outputs, self.y_query, reduction="none").double().numpy()
        return found


def _mlp() -> nn.Module:
    layers: list[nn.Module] = [nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.1)]
    layers += [nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10)]
    return nn.Sequential(*layers)


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("mnist_lr", lambda: nn.Linear(784, 10), batch=32, epochs=20),
        Setting("mnist_mlp", _mlp, batch=64, epochs=50, momentum=0.9),
    )
}


def digits() -> Digits:
    """The first of the training set and of the test set, as dattri normalizes them."""
    with np.load(FOLDER / "mnist_full.npz") as file:
        arrays = [file[name] for name in ("x_train", "y_train", "x_test", "y_test")]
    images, labels, queries, wanted = (torch.from_numpy(array) for array in arrays)
    X, X_query = ((part.flatten(1).float() / 255 - 0.1307) / 0.3081 for part in (images[:_SAMPLES], queries[:_QUERIES]))
    return Digits(X, labels[:_SAMPLES].long(), X_query, wanted[:_QUERIES].long())


def train(
    setting: Setting,
    data: Digits,
    seed: int,
    kept: Sequence[int] | None = None,
    *,
    shuffled: bool = False,
    recording: Recording | None = None,
) -> nn.Module:
    """The network trained on the samples that are kept (all if not said).

    `recording` makes, from the network and its optimizer before training, what is told of every step.
    """
    torch.manual_seed(seed)
    model = setting.network()
    optimizer = setting.optimizer(model)
    with torch.random.fork_rng(devices=[]):
        recorder = None if recording is None else recording(model, optimizer)
    positions = torch.arange(len(data.X)) if kept is None else torch.tensor(kept)
    loader: DataLoader[int] = DataLoader(range(len(positions)), batch_size=setting.batch, shuffle=shuffled)  # type: ignore[arg-type]
    model.train()
    for _ in range(setting.epochs):
        for drawn in loader:
            batch = positions[drawn]
            outputs = model(data.X[batch])
            loss = nn.functional.cross_entropy(outputs, data.y[batch])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            if recorder is not None:
                recorder.step(batch, outputs)
    return model.eval()
