"""Summaries of MNIST 4 against 9: samples chosen by one network, accuracy of another, really trained on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.applications.summarize import curve
from uniqueinfo.baselines.descent import Descent, Followed
from uniqueinfo.baselines.stabilized import Stride
from uniqueinfo.experiments import drawing, networks, paper
from uniqueinfo.experiments.data import MNIST, Dataset, Part, Prepared, load
from uniqueinfo.experiments.kept import kept_table
from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.linearization.network import linearize
from uniqueinfo.linearization.selection import Strategy
from uniqueinfo.scoring.arrays import score_linearization
from uniqueinfo.statistics.interval import Interval

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
    training: Followed
    """How the real network is trained; its linearization is trained as in the paper, t = 2000 at η = .001."""
    samples: int = 1000
    """Training samples, and as many validation samples; at most twice as many are tested on."""
    step: float = 0.05
    """Share of the samples removed before the iterative strategy scores anew."""

    def settings(self) -> dict[str, Any]:
        """For figures.json."""
        return asdict(self) | {"training": self.training.settings()}

    def run(self, request: Request, network: Network, name: str) -> pd.DataFrame:
        """Accuracy on the test digits by seed, strategy and share: of the linearized network and of the real one.

        A seed draws the weights of both networks and the random order. What a seed has given is kept in the work
        folder, so that a stopped run goes on.
        """
        data: Dataset[Any] = load("mnist_4v9", request.data)
        told = json.dumps([self.settings(), data.fingerprint, name], sort_keys=True)
        seeds = range(request.seed, request.seed + self.seeds)
        found = [
            kept_table(
                request.work, "summaries", f"{told} {seed}".encode(), partial(self._one_seed, data, network, seed)
            )
            for seed in seeds
        ]
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
            scores, self.strategies, shares, step=self.step, exact=True, seed=seed, test=test, retrain=real.accuracy
        ).frame()
        return found.assign(seed=seed, removed=(1 - found["share"]).round(6))


@dataclass(eq=False)
class _Real:
    """A network that is really trained, from the same weights every time."""

    network: nn.Module
    train: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    training: Followed
    pace: tuple[Stride, ...] = ()
    """Of the first training along flow; the others follow it, in halves where it is too fast for them."""

    def accuracy(self, kept: NDArray[np.intp]) -> float:
        """On the test samples, after training on these alone."""
        at = torch.from_numpy(kept)
        descent = Descent(self.network, self.train[0][at], self.train[1][at], training=self.training, pace=self.pace)
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
    ax.legend(frameon=False, loc="lower left")
    ax.spines[["top", "right"]].set_visible(False)
    return found


def result(table: pd.DataFrame, study: Study, claims: list[Any], request: Request, title: str, caption: str) -> Result:
    """Everything for the results folder."""
    return Result(
        table=table,
        figures={"accuracy": figure(table, study.strategies, title)},
        claims=claims,
        settings={"scores": "GradientFlow, lr 0.001, time 2000", **study.settings()},
        data={"mnist_4v9": load("mnist_4v9", request.data).fingerprint},
        captions={"accuracy": caption},
    )


def _tensors(part: Part[Any]) -> tuple[Tensor, Tensor]:
    prepared = Prepared(part, MNIST)
    inputs = torch.stack([prepared[index][0] for index in range(len(prepared))])
    return inputs, torch.from_numpy(part.labels).to(inputs.dtype)[:, None]
