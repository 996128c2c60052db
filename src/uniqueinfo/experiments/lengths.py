"""Does it matter how long the network is trained? Cats against dogs by ResNet-18, one initialization, many lengths."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import load
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.statistics.correlation import correlation_matrix, mean_correlation, pearson
from uniqueinfo.statistics.interval import Interval

_LR = 0.001
_STEPS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
_STRONG, _NEAR = 0.5, 10 / 3


def run(request: Request) -> Result:
    """One linearization, every length, every pair of lengths."""
    sizes = paper.SIZES[request.scale]
    dataset = load("cats_dogs", request.data)
    linearization = paper.resnet(dataset, request, sizes)
    scores = paper.functional(linearization, _LR, *_STEPS)
    train, _ = paper.halves(dataset, linearization.samples)
    table = train.frame({f"t={t}": row for t, row in zip(_STEPS, scores, strict=True)})
    return Result(
        table=table,
        figures={"lengths": _figure(scores)},
        claims=[*_claims(scores), paper.accuracy_claim("ResNet-18, t = 1000", linearization, _LR, 1000)],
        settings={"lr": _LR, "steps": list(_STEPS), "reduction": "mean", **sizes.settings()},
        data={dataset.name: dataset.fingerprint},
        captions={
            "lengths": "Cats against dogs, ResNet-18: correlation of functional information between lengths of "
            "training, and how the five samples that are most informative at t = 1000 fare at the others."
        },
    )


def _claims(scores: NDArray[np.float64]) -> list[Claim]:
    pairs = [(a, b) for a in range(len(_STEPS)) for b in range(a)]
    near = [(a, b) for a, b in pairs if _STEPS[a] <= _NEAR * _STEPS[b]]
    found = [
        (f"next to each other (at most {_NEAR:.2g} times as long)", mean_correlation(scores, near)),
        ("of all pairs", mean_correlation(scores, pairs)),
    ]
    claims = [_claim(f"mean correlation between lengths {what}", interval) for what, interval in found]
    first, last = pearson(scores[0], scores[-1]), f"t = {_STEPS[0]} and t = {_STEPS[-1]}"
    claims.append(Claim.of(f"correlation between {last}, the farthest apart", first, note="no claim"))
    return claims


def _claim(what: str, found: Interval) -> Claim:
    note = f"“strong” holds where the 95 % bootstrap interval over samples lies above {_STRONG:g}"
    return Claim.of(what, found, paper="strong", holds=found.low > _STRONG, note=note)


def _figure(scores: NDArray[np.float64]) -> Figure:
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = [f"t = {t}" for t in _STEPS]
    drawing.correlations(left, correlation_matrix(scores), names, "Pearson correlation of functional information")
    ranks = scores.argsort(axis=1).argsort(axis=1) / (scores.shape[1] - 1)
    leading = np.argsort(-scores[_STEPS.index(1000)])[:5]
    for colour, sample in zip(drawing.COLOURS, leading, strict=False):
        right.plot(_STEPS, 100 * ranks[:, sample], color=colour, marker="o", markersize=3, linewidth=1.2)
    right.axvline(1000, color="0.7", linestyle=":")
    right.set(xscale="log", ylim=(0, 102), xlabel="steps of training, η = .001", ylabel="samples with less, %")
    right.set_title("The five most informative samples at t = 1000", fontsize=10, loc="left")
    right.spines[["top", "right"]].set_visible(False)
    return figure
