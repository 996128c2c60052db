"""Which samples are informative? How information is spread, and the ten most and the ten least informative samples.

Cassava leaves and cats against dogs by ResNet-18, MNIST 4 against 9 by the MLP; beyond the paper, all ten digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import Dataset, Part, Pictures, load
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.scores.table import Scores
from uniqueinfo.statistics.bootstrap import bootstrap, ratio_of_means
from uniqueinfo.statistics.correlation import spearman

_SHOWN = 10
"""Samples shown from either end."""
_OVERLAID = 5
"""Classes whose histograms can still be told apart when drawn over each other."""
_RARE = ("healthy", "cbb")
"""The rare classes of cassava leaves."""
_SIMILAR = 2.0
"""Factor within which the mean information of two classes counts as similar."""


@dataclass(frozen=True)
class _Task:
    dataset: str
    title: str
    lr: float
    steps: int
    network: str = "resnet"


_TASKS = (
    _Task("cassava", "Cassava leaves, ResNet-18", 0.0003, 5000),
    _Task("mnist_4v9", "MNIST 4 against 9, MLP", 0.001, 2000, "mlp"),
    _Task("cats_dogs", "Cats against dogs, ResNet-18", 0.001, 1000),
    _Task("mnist_10c", "All ten digits, MLP (beyond the paper)", 0.001, 2000, "mlp"),
)


@dataclass(frozen=True, eq=False)
class _Found:
    task: _Task
    dataset: Dataset[Pictures]
    train: Part[Pictures]
    scores: Scores
    accuracy: Claim

    @property
    def information(self) -> NDArray[np.float64]:
        assert self.scores.functional is not None
        return self.scores.functional

    @property
    def classes(self) -> NDArray[np.str_]:
        return np.array(self.dataset.classes)[self.train.labels]


def run(request: Request) -> Result:
    """Every task in turn."""
    sizes = paper.SIZES[request.scale]
    found = [_score(task, request, sizes) for task in _TASKS]
    return Result(
        table=pd.concat([_frame(one) for one in found], ignore_index=True),
        figures={one.task.dataset: _figure(one) for one in found},
        claims=[claim for one in found for claim in (*_CLAIMS[one.task.dataset](one), one.accuracy)],
        settings={**sizes.settings(), **{t.dataset: f"η = {t.lr:g}, t = {t.steps}, mean loss" for t in _TASKS}},
        data={one.dataset.name: one.dataset.fingerprint for one in found},
        captions={one.task.dataset: _caption(one) for one in found},
    )


def _score(task: _Task, request: Request, sizes: paper.Sizes) -> _Found:
    dataset = load(task.dataset, request.data)
    if task.network == "mlp":
        linearization = paper.mlp(dataset, request, _digits(task, request, sizes))
    else:
        linearization = paper.resnet(dataset, request, sizes)
    train, _ = paper.halves(dataset, linearization.samples)
    accuracy = paper.accuracy_claim(task.title, linearization, task.lr, task.steps)
    return _Found(task, dataset, train, paper.scored(linearization, task.lr, task.steps), accuracy)


def _digits(task: _Task, request: Request, sizes: paper.Sizes) -> int:
    """The MLP on two digits is cheap enough for the paper's size at any scale; ten outputs are not."""
    return min(1000, 5 * sizes.samples) if task.dataset == "mnist_4v9" else min(500, sizes.samples)


def _claims(one: _Found) -> list[Claim]:
    name, values = one.task.title, one.information
    below = bootstrap(values, lambda drawn: (drawn < drawn.mean(axis=-1, keepdims=True)).mean(axis=-1))
    hard = spearman(values, one.scores.loo_loss)
    return [
        Claim.of(
            f"{name}: share of samples with less than the mean information",
            below,
            paper="most samples carry little",
            holds=below.low > 0.5,
            note="“most” holds where the 95 % bootstrap interval of the share lies above one half",
        ),
        Claim.of(
            f"{name}: rank correlation of information and leave-one-out loss",
            hard,
            paper="the informative ones are challenging",
            holds=hard.low > 0,
            note="“challenging” is measured by the loss of the network trained without the sample (95 % bootstrap)",
        ),
    ]


def _rare_claims(one: _Found) -> list[Claim]:
    claims = []
    for name in _RARE:
        among = one.classes == name
        if among.sum() < 2:
            continue
        ratio = ratio_of_means(one.information[among], one.information[~np.isin(one.classes, _RARE)])
        claims.append(
            Claim.of(
                f"Cassava: mean information of {name} ({among.sum()} samples) over that of the common classes",
                ratio,
                paper="> 1: rare classes carry more",
                holds=ratio.low > 1,
                note="95 % bootstrap over the samples of both groups",
            )
        )
    return claims + _claims(one)


def _two_class_claims(one: _Found) -> list[Claim]:
    first, second = (one.information[one.train.labels == label] for label in (0, 1))
    ratio = ratio_of_means(second, first)
    names = one.dataset.classes
    claim = Claim.of(
        f"{one.task.title}: mean information of {names[1]} over that of {names[0]}",
        ratio,
        paper="similar on average",
        holds=ratio.low > 1 / _SIMILAR and ratio.high < _SIMILAR,
        note=f"“similar” holds where the 95 % bootstrap interval lies within a factor of {_SIMILAR:g}",
    )
    return [claim, *_claims(one)]


_CLAIMS: dict[str, Callable[[_Found], list[Claim]]] = {
    "cassava": _rare_claims,
    "mnist_4v9": _two_class_claims,
    "cats_dogs": _two_class_claims,
    "mnist_10c": lambda one: [replace(claim, paper=None) for claim in _claims(one)],
}


def _frame(one: _Found) -> pd.DataFrame:
    scores = {"functional": one.information, "loo_loss": one.scores.loo_loss}
    return one.train.frame({"dataset": one.dataset.name, "class": one.classes} | scores)


def _caption(one: _Found) -> str:
    return (
        f"{one.task.title}: functional information of {len(one.train)} samples by class, with means, "
        f"the {_SHOWN} least and the {_SHOWN} most informative ones."
    )


def _figure(one: _Found) -> Figure:
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    parts: Any = figure.subfigures(3, 1, height_ratios=(2.6, 1.25, 1.25))
    top, least, most = parts
    ax = top.subplots()
    common = sorted(set(one.classes), key=lambda name: -np.mean(one.information[one.classes == name]))
    groups = {name: one.information[one.classes == name] for name in common}
    if len(groups) <= _OVERLAID:
        drawing.histogram(ax, groups, density=True)
    else:
        drawing.strips(ax, groups)
    ax.set_title(one.task.title, loc="left", fontsize=11)
    order = np.argsort(one.information, kind="stable")
    for part, title, chosen in (
        (least, "Least informative", order[:_SHOWN]),
        (most, "Most informative, the first one most", order[::-1][:_SHOWN]),
    ):
        captions = [f"{one.classes[index]}\n{one.information[index]:.1e}" for index in chosen]
        drawing.row_of_pictures(part, title, [one.train.inputs[int(index)] for index in chosen], captions)
    return figure
