"""Which problems there are, and how they are made from the data sets.

- `mnist`: fours against nines, pixels from 0 to 1, an MLP of one hidden layer, trained in full.
- `pets`: pets against deer, a linear head on what a frozen ResNet-18 sees.
- `pixels`: ten digits, a linear head on the pixels themselves: the largest.
Features have a column of ones in place of an intercept, and heads start from zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from benchmarks.peers.problem import Problem, network
from benchmarks.training import checkpoints
from uniqueinfo import GradientDescent
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data import features, load
from uniqueinfo.experiments.data.files import arrays
from uniqueinfo.experiments.labelnoise import NOISE, noisy
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Request

Labels = NDArray[np.int64]
Data = Literal["mnist", "pets", "pixels"]
Noise = Literal["none", "even", "hard"]

TITLES: dict[Data, str] = {
    "mnist": "MNIST 4 against 9, MLP",
    "pets": "pets against deer, linear head on ResNet-18 features",
    "pixels": "MNIST, ten digits, linear head on pixels",
}
STRETCHES = 10
"""Checkpoints that TracIn sees."""
VALIDATION = 1000
_STEEP = 1024
"""Hidden units up to which the same steps are stable."""
_SIDE = 96
"""Pixels of a side of the pictures that the ResNet sees."""
_TRAINING: dict[Data, GradientDescent] = {
    "mnist": GradientDescent(lr=0.05, steps=120),
    "pets": GradientDescent(lr=0.001, steps=1000),
    "pixels": GradientDescent(lr=0.04, steps=300),
}


@dataclass(frozen=True)
class Setting:
    """One problem."""

    data: Data
    samples: int
    hidden: int = 0
    """Units of the hidden layer; 0: there is none."""
    noise: Noise = "none"
    """A tenth of the labels wrong: drawn evenly, or among the third of the samples that look most like another."""

    judged: bool = False
    """Whether some samples are really left out, to know the truth."""

    @property
    def name(self) -> str:
        width = f"-h{self.hidden}" if self.hidden else ""
        noise = "" if self.noise == "none" else f"-{self.noise}"
        return f"{self.data}-n{self.samples}{width}{noise}"

    @property
    def training(self) -> GradientDescent:
        """Wider networks are steeper: their steps are shorter."""
        own = _TRAINING[self.data]
        return GradientDescent(own.lr * min(1.0, _STEEP / max(self.hidden, 1)), own.steps)


SETTINGS = (
    Setting("mnist", 500, 256, judged=True),
    Setting("pets", 2000, judged=True),
    Setting("mnist", 1000, 1024, judged=True),
    Setting("mnist", 500, 256, "hard"),
    Setting("pets", 2000, noise="hard"),
    Setting("mnist", 200, 256),
    Setting("mnist", 1000, 256),
    Setting("mnist", 500, 64),
    Setting("pets", 8000),
    Setting("mnist", 500, 1024),
    Setting("pixels", 20_000, noise="hard"),
    Setting("mnist", 2000, 256),
    Setting("mnist", 200, 1024),
    Setting("mnist", 2000, 1024),
    Setting("mnist", 1000, 1024, "hard"),
    Setting("pets", 8000, noise="hard"),
)
"""In the order they are run. The MLP of 1024 is the paper's; that of 256 is one that every peer has time for."""


@dataclass(frozen=True, eq=False)
class _Parts:
    X: NDArray[np.float32]
    y: Labels
    X_val: NDArray[np.float32]
    y_val: Labels
    classes: int


def make(setting: Setting, data: Path, work: Path) -> tuple[Problem, NDArray[np.bool_]]:
    """The problem, its network really trained, and which labels are wrong."""
    parts = _read(setting.data, data, work)
    if setting.samples > len(parts.X):
        raise InputError(f"{setting.name}: there are only {len(parts.X)} training samples; choose fewer")
    clean = parts.y[: setting.samples]
    problem = _trained(setting, parts, clean)
    if setting.noise == "none":
        return problem, np.zeros(len(clean), dtype=bool)
    labels, wrong = noisy(clean, parts.classes, seed=0) if setting.noise == "even" else _confused(problem)
    return _trained(setting, parts, labels), wrong


def _trained(setting: Setting, parts: _Parts, labels: Labels) -> Problem:
    X, given = torch.from_numpy(parts.X[: setting.samples]), torch.from_numpy(labels)
    val, training = (torch.from_numpy(parts.X_val), torch.from_numpy(parts.y_val)), setting.training
    outputs = 1 if parts.classes == 2 else parts.classes
    if setting.hidden:
        torch.manual_seed(0)
        start = nn.Sequential(*list(mlp(X.shape[1], setting.hidden, outputs))[1:]).state_dict()
    else:
        start = {"0.weight": torch.zeros(outputs, X.shape[1])}
    fresh = Problem(X, given, *val, parts.classes, training.lr, training.steps, start, start, [])
    *between, end = checkpoints(network(start), X, fresh.targets, training, training.steps // STRETCHES)
    return replace(fresh, trained=end, between=between)


def _confused(problem: Problem) -> tuple[Labels, NDArray[np.bool_]]:
    """Wrong labels as people give them: the class a sample looks most like but is not, for those it is close to."""
    with torch.no_grad():
        outputs = network(problem.trained)(problem.X)
    likeness = torch.cat([1 - outputs, outputs], dim=1) if problem.classes == 2 else outputs
    own = likeness.gather(1, problem.y[:, None])[:, 0]
    rival = likeness.scatter(1, problem.y[:, None], -torch.inf).max(dim=1)
    unsure = torch.argsort(own - rival.values)[: len(own) // 3].numpy()
    wrong = np.zeros(len(own), dtype=bool)
    wrong[np.random.default_rng(0).choice(unsure, round(NOISE * len(own)), replace=False)] = True
    return np.where(wrong, rival.indices.numpy(), problem.y.numpy()), wrong


@lru_cache(maxsize=2)
def _read(name: Data, data: Path, work: Path) -> _Parts:
    rng = np.random.default_rng(0)
    if name == "pets":
        request, dataset = Request(data=data, work=work), load("pets_vs_deer", data)
        model, preparation = RESNET18.features(request, _SIDE), RESNET18.preparation(_SIDE)
        train, test = (dataset[part] for part in ("train", "test"))
        seen = [features(model, part, preparation, work) for part in (train, test)]
        order, chosen = rng.permutation(len(train)), rng.permutation(len(test))[:VALIDATION]
        return _Parts(
            _with_ones(seen[0][order]), train.labels[order], _with_ones(seen[1][chosen]), test.labels[chosen], 2
        )
    images, digits = arrays(data / "mnist_full.npz", "x_train", "y_train")
    order = rng.permutation(len(digits))
    if name == "mnist":
        order = order[np.isin(digits[order], (4, 9))]
    X, y = images[order].reshape(len(order), -1).astype(np.float32) / np.float32(255), digits[order].astype(np.int64)
    if name == "mnist":
        y = (y == 9).astype(np.int64)
    else:
        X = _with_ones(X)
    cut = len(y) - VALIDATION
    return _Parts(X[:cut], y[:cut], X[cut:], y[cut:], 2 if name == "mnist" else 10)


def _with_ones(X: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.column_stack([X, np.ones(len(X), dtype=np.float32)])
