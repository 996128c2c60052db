"""Does the network matter? Cats against dogs by several pretrained networks, each linearized with all its layers.

The paper's ResNet-34 and DenseNet-121 come from torchvision where it and their weights are at hand; EfficientNet-Lite0
stands beside ResNet-18 and ResNet-50. As in the paper, correlations are means over ten runs, each with last layers of
its own, and photographs have 224 pixels a side; 250 of them are for validation. Ten runs with 128 pixels, to save time,
had come first, and agreed far less (.11 to .19). Last layers alone, on frozen features, are shown too. The small vision
transformer of letters is not among them: it takes 28 × 28 letters, not photographs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.errors import InputError
from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import Part, Pictures, Preparation, features, load
from uniqueinfo.experiments.kept import Arrays, kept_arrays
from uniqueinfo.experiments.pretrained import DENSENET121, EFFICIENTNET, RESNET18, RESNET34, RESNET50, Pretrained
from uniqueinfo.experiments.runner import Claim, Request, Result, not_run
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.jacobian.guard import fingerprint
from uniqueinfo.progress import progress
from uniqueinfo.scoring.arrays import score_features
from uniqueinfo.statistics.bootstrap import redrawn
from uniqueinfo.statistics.correlation import correlation_matrix, mean_correlation, pearson
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats, Indices

_LR, _STEPS, _TOP = 0.001, 1000, 10
_RUNS = {"small": 1, "paper": 10}
_VALIDATION = 250
"""Photographs for validation, at most."""
_NETWORKS = (RESNET18, RESNET34, RESNET50, DENSENET121, EFFICIENTNET)
_PAPER = {("ResNet-50", "DenseNet-121"): "≈ 0.45"}


@dataclass(frozen=True, eq=False)
class _Scored:
    title: str
    runs: NDArray[np.float64]
    """F-SI in every run, (runs, n)."""
    centred: NDArray[np.float64]
    """The same as if outputs had started from zero; for a last layer alone they have."""
    accuracy: Claim | None = None

    @property
    def mean(self) -> NDArray[np.float64]:
        """Over runs."""
        return np.asarray(self.runs.mean(axis=0))


def run(request: Request) -> Result:
    """Every network that can be had, every pair of them."""
    sizes, runs = paper.SIZES[request.scale], _RUNS[request.scale]
    dataset = load("cats_dogs", request.data)
    train, val = dataset["train"].draw(sizes.samples), dataset["val"].draw(min(sizes.samples, _VALIDATION))
    whole, heads, absent = [], [], []
    for network in _NETWORKS:
        try:
            whole.append(_whole(network, request, train, val))
        except InputError as missing:
            absent.append((network.title, missing))
            continue
        heads.append(_head(network, request, sizes, train, val))
    found = whole + heads
    return Result(
        table=train.frame({one.title: one.mean for one in found}),
        figures={"architectures": _figure(found, whole, train)},
        claims=_claims(whole, heads, absent),
        settings={
            "lr": _LR,
            "steps": _STEPS,
            "reduction": "mean",
            "runs": runs,
            **sizes.settings(),
            "validation": len(val),
        },
        data={dataset.name: dataset.fingerprint},
        captions={
            "architectures": "Cats against dogs: correlation of functional information between networks (all layers, "
            f"and their last layers alone), and each network's {_TOP} most informative photographs; framed: in the ten "
            "of as many networks as the number says."
        },
    )


def _whole(network: Pretrained, request: Request, train: Part[Pictures], val: Part[Pictures]) -> _Scored:
    """F-SI of a network with all its layers, the last one drawn anew for every run."""
    sizes, runs = paper.SIZES[request.scale], _RUNS[request.scale]
    found = []
    with progress(f"{network.title}, last layers", runs, unit="networks", show=runs > 1) as advance:
        for number in range(runs):
            model = network.build(request, 1, sizes.pixels, paper.head(request, number))
            found.append(_once(model, network.preparation(sizes.pixels), train, val, sizes.per_layer, request.work))
            advance(1)
    accuracy = over_seeds([run["accuracy"].item() for run in found])
    claim = Claim(f"{network.title}: validation accuracy of the linearized network, mean over runs", accuracy.value)
    if runs > 1:
        claim = replace(claim, low=accuracy.low, high=accuracy.high)
    scores, centred = (np.stack([run[what] for run in found]) for what in ("functional", "centred"))
    return _Scored(network.title, scores, centred, replace(claim, note="no claim of the paper"))


def _once(
    model: nn.Module,
    preparation: Preparation,
    train: Part[Pictures],
    val: Part[Pictures],
    per_layer: int,
    work: Path | None,
) -> Arrays:
    """F-SI of one network, and how good it is; kept, where its many rows are not."""

    def compute() -> Arrays:
        known = paper.linearized(model, train, val, preparation, per_layer, None)
        return {
            "functional": paper.functional(known, _LR, _STEPS)[0],
            "centred": paper.from_zero(known, _LR, _STEPS),
            "accuracy": np.array([paper.accuracy(known, _LR, _STEPS)]),
        }

    data = f"{train.inputs.digest()} {val.inputs.digest()} {preparation}"
    told = f"{fingerprint(model)} {data} {per_layer} {_LR} {_STEPS}"
    return kept_arrays(work, "architecture", told.encode(), compute)


def _head(
    network: Pretrained, request: Request, sizes: paper.Sizes, train: Part[Pictures], val: Part[Pictures]
) -> _Scored:
    """F-SI of a last layer alone, started from zero, stopped where its leave-one-out loss is least; once for all runs.

    Nothing in it is drawn, so that every run gives the same.
    """
    frozen, preparation = network.features(request, sizes.pixels), network.preparation(sizes.pixels)
    X, X_val = (features(frozen, part, preparation, request.work) for part in (train, val))
    found = score_features(X, train.labels, X_val, head="paper").functional
    assert found is not None
    runs = np.tile(found, (_RUNS[request.scale], 1))
    return _Scored(f"{network.title}, last layer", runs, runs)


def _claims(whole: list[_Scored], heads: list[_Scored], absent: list[tuple[str, InputError]]) -> list[Claim]:
    pairs = list(combinations(whole, 2))
    claims = [_claim(a, b, "> 0: significantly correlated") for a, b in pairs]
    for a, b in pairs:
        if len(a.runs) > 1:
            claims.append(
                _beyond(f"information averaged over runs: correlation of {a.title} and {b.title}", a.mean, b.mean)
            )
        what = f"outputs taken to start from zero: correlation of {a.title} and {b.title}"
        claims.append(_beyond(what, a.centred.mean(axis=0), b.centred.mean(axis=0)))
    claims += [_claim(a, b, None) for a, b in (*zip(whole, heads, strict=True), *combinations(heads, 2))]
    claims += [_overlap(a, b) for a, b in pairs]
    claims += [one.accuracy for one in whole if one.accuracy is not None]
    return claims + [not_run(f"{title} against the others", why, _paper_for(title)) for title, why in absent]


def _overlap(a: _Scored, b: _Scored) -> Claim:
    shared = int(_shared(a.mean, b.mean))
    note = f"holds where chance gives as many in less than 5 % of draws; chance gives {_TOP**2 / len(a.mean):.2g}"
    if len(a.runs) > 1:
        note += "; by the mean over runs, which are drawn again for the interval; in single ones "
        note += ", ".join(map(str, _shared(a.runs, b.runs)))
    note += f"; with outputs from zero {_shared(a.centred.mean(axis=0), b.centred.mean(axis=0))}"
    claim = Claim(
        f"of the {_TOP} most informative photographs, in both {a.title}'s and {b.title}'s",
        float(shared),
        paper="a significant overlap",
        holds=_overlap_by_chance(shared, len(a.mean)) < 0.05,
        note=note,
    )
    if len(a.runs) == 1:
        return claim

    def shared_by(drawn: Indices) -> Floats:
        return _shared(a.runs[drawn].mean(axis=1), b.runs[drawn].mean(axis=1)).astype(np.float64)

    again = redrawn(len(a.runs), shared_by, np.random.default_rng(0), rows=len(a.mean))
    interval = Interval.percentile(shared, again)
    return replace(claim, low=interval.low, high=interval.high)


def _shared(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many of the ten most informative (…, n) are the same."""
    same: NDArray[np.int64] = (_top(one)[..., :, None] == _top(other)[..., None, :]).sum(axis=(-2, -1))
    return same


def _overlap_by_chance(shared: int, samples: int) -> float:
    """The probability that two random choices of ten share at least so many."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(shared - 1, samples, _TOP, _TOP))


def _paper_for(title: str) -> str:
    return next((f"{value} ({' and '.join(pair)})" for pair, value in _PAPER.items() if title in pair), "correlated")


def _claim(a: _Scored, b: _Scored, expected: str | None) -> Claim:
    runs = len(a.runs)
    found = mean_correlation(np.concatenate([a.runs, b.runs]), [(number, runs + number) for number in range(runs)])
    what = f"correlation of {a.title} and {b.title}"
    note = "95 % bootstrap over samples" if expected else "beyond the paper"
    if runs > 1:
        note = f"mean over {runs} runs, {note}"
    return Claim.of(what, found, paper=expected, holds=found.low > 0 if expected else None, note=note)


def _beyond(what: str, one: NDArray[np.float64], other: NDArray[np.float64]) -> Claim:
    found = pearson(one, other)
    return Claim.of(what, found, note="beyond the paper")


def _top(information: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(-information, kind="stable")[..., :_TOP]


def _figure(found: list[_Scored], whole: list[_Scored], train: Part[Pictures]) -> Figure:
    figure = Figure(figsize=(10, 4.6 + 1.35 * len(whole)), layout="constrained")
    parts: Any = figure.subfigures(1 + len(whole), 1, height_ratios=(4.6, *[1.35] * len(whole)))
    matrix = np.mean(
        [correlation_matrix(np.stack(scores)) for scores in zip(*(one.runs for one in found), strict=True)], axis=0
    )
    ax = parts[0].subplots()
    drawing.correlations(ax, matrix, [one.title for one in found], "Pearson correlation of functional information")
    times = Counter(index for one in whole for index in _top(one.mean).tolist())
    for part, one in zip(parts[1:], whole, strict=True):
        chosen = [int(index) for index in _top(one.mean)]
        framed = [times[index] > 1 for index in chosen]
        captions = [f"{one.mean[index]:.1e}" + (f" ({times[index]})" if times[index] > 1 else "") for index in chosen]
        pictures = [train.inputs[index] for index in chosen]
        drawing.row_of_pictures(part, f"Most informative for {one.title}", pictures, captions, framed)
    return figure
