"""Summaries of MNIST 4 against 9: samples chosen by one network, accuracy of another, really trained on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.applications.summarize import curve
from uniqueinfo.baselines.descent import Descent
from uniqueinfo.baselines.stabilized import Stride
from uniqueinfo.experiments import drawing, networks, paper
from uniqueinfo.experiments.data import MNIST, Dataset, Part, Prepared, load
from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.linearization.selection import Strategy
from uniqueinfo.scoring.arrays import score_linearization
from uniqueinfo.scoring.network import linearize
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.store.files import replacing
from uniqueinfo.training import GradientDescent, GradientFlow

Network = Callable[[], nn.Module]
NAMES: dict[Strategy, str] = {
    "iterative": "bottom, iterative",
    "bottom": "bottom",
    "top": "top",
    "random": "random",
    "greedy": "greedy",
}


@dataclass(frozen=True)
class Study:
    """What is removed, and how the networks are trained."""

    strategies: tuple[Strategy, ...]
    removed: tuple[float, ...]
    seeds: int
    training: GradientDescent | GradientFlow
    """Of the real network; its linearization is trained like the paper's, t = 2000 at η = .001."""
    samples: int = 1000
    """Of training and of validation; tested on at most twice as many."""
    step: float = 0.05

    def run(self, request: Request, network: Network, name: str) -> pd.DataFrame:
        """Accuracy on the test digits by seed, strategy and share: of the linearized network and of the real one.

        A seed draws the weights of both networks and the random order. What a seed has given is kept in the work
        folder, so that a stopped run goes on.
        """
        data: Dataset[Any] = load("mnist_4v9", request.data)
        told = json.dumps([asdict(self), data.fingerprint, name], sort_keys=True)
        found = []
        for seed in range(request.seed, request.seed + self.seeds):
            key = hashlib.sha256(f"{told} {seed}".encode()).hexdigest()[:16]
            path = None if request.work is None else request.work / f"summaries-{key}.csv"
            if path is None or not path.is_file():
                found.append(self._one_seed(data, network, seed))
                _keep(found[-1], path)
            else:
                found.append(pd.read_csv(path))
        return pd.concat(found, ignore_index=True)

    def _one_seed(self, data: Dataset[Any], network: Network, seed: int) -> pd.DataFrame:
        train, val = paper.halves(data, self.samples)
        torch.manual_seed(seed)
        scoring = networks.mlp()
        linearization = linearize(scoring, Prepared(train, MNIST), Prepared(val, MNIST), projection=None)
        scores = score_linearization(
            linearization, linearization.validation, paper.training(0.001, 2000), labels=linearization.labels
        )
        tested = data["test"].draw(2 * self.samples)
        test = linearization.probe(Prepared(tested, MNIST))
        torch.manual_seed(seed)  # where it is the same network, with the same weights
        real = _Real(network().eval(), _tensors(train), _tensors(tested), self.training)
        shares = [1 - removed for removed in self.removed]
        found = curve(
            scores, self.strategies, shares, step=self.step, seed=seed, test=test, retrain=real.accuracy
        ).frame()
        return found.assign(seed=seed, removed=(1 - found["share"]).round(6))


@dataclass(eq=False)
class _Real:
    """A network that is really trained, from the same weights every time."""

    network: nn.Module
    train: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    training: GradientDescent | GradientFlow
    pace: tuple[Stride, ...] = ()
    """Of the first training along flow; the others follow it, in halves where it is too fast for them."""

    def accuracy(self, kept: NDArray[np.intp]) -> float:
        """On the test samples, after training on these alone."""
        at = torch.from_numpy(kept)
        descent = Descent(self.network, self.train[0][at], self.train[1][at], self.training, pace=self.pace)
        outputs = descent.outputs(descent.train([[]]), self.test[0])[0]
        self.pace = descent.pace
        return float(((outputs > 0.5) == (self.test[1] > 0.5)).double().mean())


def means(table: pd.DataFrame, strategy: Strategy, measure: str = "retrained") -> dict[float, Interval]:
    """Accuracy by share removed, over seeds."""
    chosen = table[table["strategy"] == strategy]
    shares: list[float] = np.unique(chosen["removed"]).tolist()
    return {removed: over_seeds(chosen[chosen["removed"] == removed][measure]) for removed in shares}


def above(table: pd.DataFrame, one: Strategy, other: Strategy, removed: float) -> Interval:
    """How much more accurate one strategy is than another at a share removed: paired by seed."""
    at = table[np.isclose(table["removed"], removed)].pivot(index="seed", columns="strategy", values="retrained")
    return over_seeds(at[one] - at[other])


def figure(table: pd.DataFrame, strategies: Sequence[Strategy], title: str) -> Figure:
    """Accuracy of the real network against the share removed; bands are intervals over seeds."""
    found = Figure(figsize=(7.5, 4.6), layout="constrained")
    ax = found.subplots()
    for colour, strategy in zip(drawing.COLOURS, strategies, strict=False):
        line = means(table, strategy)
        removed = [100 * share for share in line]
        ax.plot(removed, [one.value for one in line.values()], color=colour, marker="o", label=NAMES[strategy])
        low, high = [one.low for one in line.values()], [one.high for one in line.values()]
        ax.fill_between(removed, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="samples removed, %", ylabel="test accuracy of the trained network")
    ax.set_title(title, loc="left", fontsize=11)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return found


def result(table: pd.DataFrame, study: Study, claims: list[Any], request: Request, title: str, caption: str) -> Result:
    """Everything for the results folder."""
    return Result(
        table=table,
        figures={"accuracy": figure(table, study.strategies, title)},
        claims=claims,
        settings={"scores": "GradientFlow, lr 0.001, time 2000", **asdict(study)},
        data={"mnist_4v9": load("mnist_4v9", request.data).fingerprint},
        captions={"accuracy": caption},
    )


def _tensors(part: Part[Any]) -> tuple[Tensor, Tensor]:
    prepared = Prepared(part, MNIST)
    inputs = torch.stack([prepared[index][0] for index in range(len(prepared))])
    return inputs, torch.from_numpy(part.labels).to(inputs.dtype)[:, None]


def _keep(table: pd.DataFrame, path: Path | None) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            table.to_csv(beside, index=False)
