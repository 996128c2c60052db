"""Does the start matter? Cats against dogs by ResNet-18, whose last layer is drawn anew; the rest is pretrained.

A fresh last layer changes two things: the outputs before training, which training has to undo, and the Jacobian. What
each does is told apart by scoring once more as if every network's outputs had started from zero.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import load
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.progress import progress
from uniqueinfo.statistics.correlation import correlation_matrix, mean_correlation

_LR, _STEPS = 0.001, 1000
_HEADS = {"small": 4, "paper": 10}
_SAMPLES = {"small": 150, "paper": 1000}


def run(request: Request) -> Result:
    """One linearization for each last layer, every pair of them."""
    sizes = paper.SIZES[request.scale]
    sizes = paper.Sizes(min(sizes.samples, _SAMPLES[request.scale]), sizes.pixels, sizes.per_layer)
    dataset = load("cats_dogs", request.data)
    scores, centred, spread = [], [], []
    with progress("Initializations", _HEADS[request.scale], unit="networks") as advance:
        for number in range(_HEADS[request.scale]):
            linearization = paper.resnet(dataset, request, sizes, head=paper.head(request, number))
            scores.append(paper.functional(linearization, _LR, _STEPS)[0])
            centred.append(paper.from_zero(linearization, _LR, _STEPS))
            spread.append(float(linearization.initial.std()))
            advance(1)
    information = np.stack(scores)
    train, _ = paper.halves(dataset, sizes.samples)
    return Result(
        table=train.frame({f"head {n}": row for n, row in enumerate(information)}),
        figures={"initialization": _figure(information)},
        claims=[
            *_claims(information),
            _centred_claim(np.stack(centred), float(np.mean(spread))),
            paper.accuracy_claim("the last head", linearization, _LR, _STEPS),
        ],
        settings={"lr": _LR, "steps": _STEPS, "reduction": "mean", "heads": len(information), **sizes.settings()},
        data={dataset.name: dataset.fingerprint},
        captions={
            "initialization": "Cats against dogs, ResNet-18: correlation of functional information between draws of "
            "the last layer, and two of them sample by sample."
        },
    )


def _centred_claim(scores: NDArray[np.float64], spread: float) -> Claim:
    found = mean_correlation(scores, list(combinations(range(len(scores)), 2)))
    note = (
        f"outputs before training are random, with a standard deviation of {spread:.2f} over samples, and differ from "
        "head to head: taken as zero, what is left is the difference of the Jacobians; beyond the paper"
    )
    what = "mean correlation if all outputs had started from zero"
    return Claim.of(what, found, note=note)


def _claims(scores: NDArray[np.float64]) -> list[Claim]:
    pairs = list(combinations(range(len(scores)), 2))
    each = correlation_matrix(scores)[np.triu_indices(len(scores), 1)]
    found = mean_correlation(scores, pairs)
    spread = f"the {len(pairs)} pairs spread by {np.std(each):.3f} (standard deviation)"
    with_mean = correlation_matrix(np.vstack([scores, scores.mean(axis=0)]))[-1, :-1]
    return [
        Claim.of(
            "mean correlation between initializations",
            found,
            paper="0.364 ± 0.066",
            holds=found.low > 0,
            note="“significantly correlated” holds where the 95 % bootstrap interval over samples lies above 0; "
            + spread,
        ),
        Claim(
            "correlation of one initialization with the mean over all",
            float(with_mean.mean()),
            note="what a user gains by averaging; beyond the paper",
        ),
    ]


def _figure(scores: NDArray[np.float64]) -> Figure:
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = [f"head {number}" for number in range(len(scores))]
    drawing.correlations(left, correlation_matrix(scores), names, "Pearson correlation of functional information")
    right.scatter(scores[0], scores[1], s=9, color=drawing.COLOURS[0], alpha=0.6, linewidths=0)
    right.set(xscale="log", yscale="log", xlabel=f"{drawing.UNIT}, head 0", ylabel="head 1")
    right.set_title("Each sample under two initializations", fontsize=10, loc="left")
    right.spines[["top", "right"]].set_visible(False)
    return figure
