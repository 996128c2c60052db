"""Which source of data is worth more? Two sources of digits for one ten-way task, half the samples from each.

The paper compares MNIST with SVHN, by ResNet-18 and by DenseNet-121, whose weights are not to be had here: ResNet-50
is the second network in its place. It has nearly three times as many parameters' tensors as ResNet-18; 500 coordinates
of each are kept in place of 2000, so that the rows of both take about as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import Dataset, Part, load
from uniqueinfo.experiments.data.pictures import Pixels, joined
from uniqueinfo.experiments.pretrained import DENSENET121, RESNET18, RESNET50, Pretrained
from uniqueinfo.experiments.runner import Claim, Request, Result, not_run
from uniqueinfo.jacobian import OutputSketch
from uniqueinfo.statistics.bootstrap import ratio_of_means

_LR, _STEPS, _SIDE, _CLASSES = 0.0001, 20_000, 32, 10
_SHOWN = 10
_MNIST = "MNIST"


@dataclass(frozen=True)
class Pair:
    """A source to compare with MNIST."""

    dataset: str
    source: str
    network: Pretrained
    paper: str | None
    varied: bool = True
    """Whether its digits vary more than MNIST's, so that they should carry more."""
    note: str = ""
    per_layer: int | None = None
    """Coordinates kept of each parameter at most, where that is fewer than the scale has."""

    @property
    def title(self) -> str:
        """Both sources, and the network."""
        return f"{self.source} against {_MNIST}, {self.network.title}"


PAIRS = (
    Pair("svhn", "SVHN", RESNET18, "SVHN ≫ MNIST"),
    Pair(
        "svhn",
        "SVHN",
        RESNET50,
        "SVHN ≫ MNIST (DenseNet-121)",
        note="in place of the paper's DenseNet-121; 500 coordinates of each parameter",
        per_layer=500,
    ),
    Pair("svhn", "SVHN", DENSENET121, "SVHN ≫ MNIST"),
)
_SIZES: dict[str, dict[str, int]] = {
    "small": {"samples_each": 100, "per_layer": 500, "outputs": 3},
    "paper": {"samples_each": 500, "per_layer": 2000, "outputs": 10},
}


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Information of MNIST's samples and, after them, of the other source's, under one network."""

    pair: Pair
    train: Part[Pixels]
    information: NDArray[np.float64]

    @property
    def key(self) -> str:
        return f"{self.pair.dataset}-{self.pair.network.title}".lower()

    @property
    def names(self) -> tuple[str, str]:
        return _MNIST, self.pair.source

    @property
    def source(self) -> NDArray[np.str_]:
        return np.repeat(self.names, len(self.train) // 2)

    def of(self, name: str) -> NDArray[np.float64]:
        return np.asarray(self.information[self.source == name])


def run(request: Request) -> Result:
    """SVHN and MNIST, by every network that can be had."""
    return compare(PAIRS, request)


def compare(pairs: Sequence[Pair], request: Request) -> Result:
    """Every pair of sources; those whose data or network cannot be had are named."""
    mnist = load("mnist_10c", request.data)
    data, found, claims = {"mnist_10c": mnist.fingerprint}, [], []
    for pair in pairs:
        try:
            other = load(pair.dataset, request.data)
            one = _compared(pair, (mnist, other), request)
        except InputError as missing:
            claims.append(not_run(pair.title, missing, pair.paper, request.data))
            continue
        data[pair.dataset] = other.fingerprint
        found.append(one)
        claims.append(_claim(one))
    return Result(
        table=pd.concat([_frame(one) for one in found], ignore_index=True),
        figures={one.key: _figure(one) for one in found},
        claims=claims,
        settings={"lr": _LR, "steps": _STEPS, "reduction": "mean", "pixels": _SIDE, **_SIZES[request.scale]},
        data=data,
        captions={one.key: _caption(one) for one in found},
    )


def _compared(pair: Pair, sources: tuple[Dataset[Any], Dataset[Any]], request: Request) -> _Comparison:
    sizes, network = _SIZES[request.scale], pair.network
    model = network.build(request, _CLASSES, _SIDE)
    train, val = _halves(sources, sizes)
    sketch = OutputSketch(sizes["outputs"]) if sizes["outputs"] < _CLASSES else None
    preparation = network.preparation(_SIDE)
    per_layer = min(sizes["per_layer"], pair.per_layer or sizes["per_layer"])
    linearization = paper.linearized(model, train, val, preparation, per_layer, request.work, sketch)
    factor = 1.0 if sketch is None else sketch.factor(_CLASSES)
    return _Comparison(pair, train, factor * paper.functional(linearization, _LR, _STEPS)[0])


def _halves(sources: tuple[Dataset[Any], Dataset[Any]], sizes: Mapping[str, int]) -> list[Part[Pixels]]:
    """Training and validation samples, as many from either source."""
    each = sizes["samples_each"]
    halves = []
    for names in (("train",), ("val", "test")):
        parts = [next(source[name] for name in names if name in source.parts) for source in sources]
        count = min(each, *(len(part) for part in parts))
        halves.append(joined((part.draw(count) for part in parts), _SIDE))
    return halves


def _claim(one: _Comparison) -> Claim:
    pair = one.pair
    ratio = ratio_of_means(one.of(pair.source), one.of(_MNIST))
    note = "; ".join(filter(None, ["95 % bootstrap over the samples of both sources", pair.note]))
    holds = ratio.low > 1 if pair.varied else None
    what = f"{pair.title}: mean information of {pair.source} over that of {_MNIST}"
    return Claim.of(what, ratio, paper=pair.paper, holds=holds, note=note)


def _frame(one: _Comparison) -> pd.DataFrame:
    about = {"comparison": one.key, "source": one.source}
    return one.train.frame({**about, "digit": one.train.labels, "functional": one.information})


def _caption(one: _Comparison) -> str:
    return (
        f"{one.pair.title}: functional information by source (dotted: means), and the most informative digits of each."
    )


def _figure(one: _Comparison) -> Figure:
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    parts: Any = figure.subfigures(3, 1, height_ratios=(2.6, 1.25, 1.25))
    ax = parts[0].subplots()
    drawing.histogram(ax, {name: one.of(name) for name in one.names}, density=True)
    ax.set_title(one.pair.title, loc="left", fontsize=11)
    for part, name in zip(parts[1:], one.names, strict=True):
        among = np.flatnonzero(one.source == name)
        chosen = among[np.argsort(-one.information[among], kind="stable")[:_SHOWN]]
        captions = [f"{one.train.labels[index]}\n{one.information[index]:.1e}" for index in chosen]
        pictures = [one.train.inputs[int(index)] for index in chosen]
        drawing.row_of_pictures(part, f"Most informative of {name}", pictures, captions)
    return figure
