"""Does the network matter? Cats against dogs by several pretrained networks, each linearized with all its layers.

The paper's ResNet-34, ResNet-50 and DenseNet-121 come from torchvision where it and their weights are at hand;
EfficientNet-Lite0 stands beside ResNet-18 where they are not. Last layers alone, on frozen features, are shown too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import Part, Pictures, features, load
from uniqueinfo.experiments.intervals import correlation_matrix, pearson
from uniqueinfo.experiments.pretrained import DENSENET121, EFFICIENTNET, RESNET18, RESNET34, RESNET50, Pretrained
from uniqueinfo.experiments.runner import Claim, Request, Result, not_run
from uniqueinfo.scoring import score_features

_LR, _STEPS, _TOP = 0.001, 1000, 10
_NETWORKS = (RESNET18, RESNET34, RESNET50, DENSENET121, EFFICIENTNET)
_PAPER = {("ResNet-50", "DenseNet-121"): "≈ 0.45"}


@dataclass(frozen=True, eq=False)
class _Scored:
    title: str
    information: NDArray[np.float64]
    accuracy: Claim | None = None


def run(request: Request) -> Result:
    """Every network that can be had, every pair of them."""
    sizes = paper.SIZES[request.scale]
    dataset = load("cats_dogs", request.data)
    train, val = paper.halves(dataset, sizes.samples)
    whole, heads, absent = [], [], []
    for network in _NETWORKS:
        try:
            model = network.build(request, 1, sizes.pixels)
        except InputError as missing:
            absent.append((network.title, missing))
            continue
        preparation = network.preparation(sizes.pixels)
        linearization = paper.linearized(model, train, val, preparation, sizes.per_layer, request.work)
        (information,) = paper.functional(linearization, _LR, _STEPS)
        accuracy = paper.accuracy_claim(network.title, linearization, _LR, _STEPS)
        whole.append(_Scored(network.title, information, accuracy))
        heads.append(_Scored(f"{network.title}, last layer", _head(network, request, sizes, train, val)))
    found = whole + heads
    return Result(
        table=pd.DataFrame({"name": train.names, **{one.title: one.information for one in found}}),
        figures={"architectures": _figure(found, whole, train)},
        claims=_claims(whole, heads, absent),
        settings={"lr": _LR, "steps": _STEPS, "loss": "mean", **sizes.settings()},
        data={dataset.name: dataset.fingerprint},
        captions={
            "architectures": "Cats against dogs: correlation of functional information between networks (all layers, "
            f"and their last layers alone), and each network's {_TOP} most informative photographs; framed: in both."
        },
    )


def _head(
    network: Pretrained, request: Request, sizes: paper.Sizes, train: Part[Pictures], val: Part[Pictures]
) -> NDArray[np.float64]:
    """F-SI of a last layer alone, started from zero, stopped where its leave-one-out loss is least."""
    frozen, preparation = network.features(request, sizes.pixels), network.preparation(sizes.pixels)
    X, X_val = (features(frozen, part, preparation, request.work) for part in (train, val))
    found = score_features(X, train.labels, X_val).functional
    assert found is not None
    return found


def _claims(whole: list[_Scored], heads: list[_Scored], absent: list[tuple[str, InputError]]) -> list[Claim]:
    claims = [_claim(a, b, "> 0: significantly correlated") for a, b in combinations(whole, 2)]
    claims += [_claim(a, b, None) for a, b in (*zip(whole, heads, strict=True), *combinations(heads, 2))]
    for a, b in combinations(whole, 2):
        shared = len(np.intersect1d(_top(a), _top(b)))
        chance = _TOP**2 / len(a.information)
        claims.append(
            Claim(
                f"of the {_TOP} most informative photographs, in both {a.title}'s and {b.title}'s",
                float(shared),
                paper="a significant overlap",
                holds=_overlap_by_chance(shared, len(a.information)) < 0.05,
                note=f"holds where chance gives as many in less than 5 % of draws; chance gives {chance:.2g}",
            )
        )
    claims += [one.accuracy for one in whole if one.accuracy is not None]
    return claims + [not_run(f"{title} against the others", why, _paper_for(title)) for title, why in absent]


def _overlap_by_chance(shared: int, samples: int) -> float:
    """The probability that two random choices of ten share at least so many."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(shared - 1, samples, _TOP, _TOP))


def _paper_for(title: str) -> str:
    return next((f"{value} ({' and '.join(pair)})" for pair, value in _PAPER.items() if title in pair), "correlated")


def _claim(a: _Scored, b: _Scored, expected: str | None) -> Claim:
    found = pearson(a.information, b.information)
    what = f"correlation of {a.title} and {b.title}"
    note = "95 % bootstrap over samples; the paper's pairs hold other networks" if expected else "beyond the paper"
    return Claim(what, found.value, found.low, found.high, expected, found.low > 0 if expected else None, note)


def _top(one: _Scored) -> NDArray[np.int64]:
    return np.argsort(-one.information, kind="stable")[:_TOP]


def _figure(found: list[_Scored], whole: list[_Scored], train: Part[Pictures]) -> Figure:
    figure = Figure(figsize=(10, 4.6 + 1.35 * len(whole)), layout="constrained")
    parts: Any = figure.subfigures(1 + len(whole), 1, height_ratios=(4.6, *[1.35] * len(whole)))
    matrix = correlation_matrix(np.stack([one.information for one in found]))
    ax = parts[0].subplots()
    drawing.correlations(ax, matrix, [one.title for one in found], "Pearson correlation of functional information")
    shared = set.intersection(*(set(_top(one).tolist()) for one in whole))
    for part, one in zip(parts[1:], whole, strict=True):
        chosen = [int(index) for index in _top(one)]
        captions = [f"{one.information[index]:.1e}" + (" (both)" if index in shared else "") for index in chosen]
        framed = [index in shared and len(whole) > 1 for index in chosen]
        pictures = [train.inputs[index] for index in chosen]
        drawing.row_of_pictures(part, f"Most informative for {one.title}", pictures, captions, framed)
    return figure
