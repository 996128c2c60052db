"""Pretraining done again: do weights of our own, from EMNIST's letters, give the same cell of Table 1 as the published?

The paper's CNN is pretrained five times, from five seeds, on 13,000 letters (500 of each; the paper had 124,800), moved
at random, in 40 passes. From each of these weights, and from the published ones, with the same fresh last layer, it
learns 100 fours and nines; 20 of them are left out in turn, along the same gradient flow. Sizes were chosen before any
result, so that it takes minutes. One network, of ten passes over letters that were not moved, had come first: it read
88 % of the test letters, and its weights were foretold less closely than those of the published one (.80 against .98).
Then letters were moved, which the published network's share of test letters takes, and the gap stayed; so that now
networks of five seeds stand beside the published one, and tell how much one pretraining differs from another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import nn

from uniqueinfo.experiments.data import Dataset, emnist_cnn, load
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.experiments.emnist import EPOCHS, pretrained_cnn, read
from uniqueinfo.experiments.kept import Arrays, kept_arrays
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.seeds import one_more, over_seeds
from uniqueinfo.experiments.table1_cells import Cell, compute
from uniqueinfo.experiments.table1_figure import figure
from uniqueinfo.experiments.table1_problems import COLUMNS, Column, Effort, digits
from uniqueinfo.runs.photos.npz_weights import fill_from_npz
from uniqueinfo.statistics.correlation import pearson
from uniqueinfo.statistics.interval import Interval

_RUNS = 5
_EFFORT = Effort(left_out=20, influenced=0, lissa_batch=32, flow=True, samples=100)
_MEASURES, _METHODS = ("weights", "predictions"), ("linearization", "both ends")
_AS_PUBLISHED = (
    "in the interval one more network of ours would lie beside the mean in 95 % of pretrainings; the same where that "
    "holds 0"
)


def run(request: Request) -> Result:
    """Pretrain, then one cell from each file of weights."""
    letters = load("emnist_letters", request.data)
    seeds = range(request.seed, request.seed + _RUNS)
    own = {f"own {number}": _pretrained(letters, request, seed) for number, seed in enumerate(seeds, start=1)}
    build: dict[str, Callable[[], nn.Module]] = {"published": lambda: paper_cnn(1, emnist_cnn(request.data))}
    build |= {name: partial(_filled, weights) for name, weights in own.items()}
    published = paper_cnn(len(letters.classes))
    fill_from_npz(published, emnist_cnn(request.data), fresh="none")
    known = read(published, letters["test"])
    shares = [float(weights["accuracy"].item()) for weights in own.values()]
    cells = {name: compute(_column(name, make), False, request, _METHODS, asides=False) for name, make in build.items()}
    return Result(
        table=pd.DataFrame([_row(name, cell) for name, cell in cells.items()]),
        figures={"letters": figure(list(cells.values()), _METHODS)},
        claims=[*_claims(cells), *_accuracies(known, shares, len(letters["test"]))],
        settings={
            "epochs": EPOCHS,
            "networks": _RUNS,
            "letters": len(letters["train"]),
            "training": cells["published"].facts["training"],
            "samples": _EFFORT.samples,
            "left out": _EFFORT.left_out,
        },
        data={"emnist_letters": letters.fingerprint, "mnist_4v9": cells["published"].facts["data"]},
        captions={
            "letters": "Scores of left-out digits against really training again without them, from the published "
            "weights and from five of our own, and their correlations; crosses are the paper's."
        },
    )


def _pretrained(letters: Dataset[Pixels], request: Request, seed: int) -> Arrays:
    """The weights by name, and `accuracy`."""

    def compute() -> Arrays:
        network, accuracy = pretrained_cnn(letters, EPOCHS, seed)
        return {name: tensor.numpy() for name, tensor in network.state_dict().items()} | {
            "accuracy": np.array([accuracy])
        }

    return kept_arrays(request.work, "letters", f"{letters.fingerprint} {EPOCHS} {seed}".encode(), compute)


def _filled(weights: Arrays) -> nn.Module:
    """All but the last layer, which is drawn anew."""
    network = paper_cnn(1)
    own = {name: torch.from_numpy(weights[name]) for name in network.state_dict() if not name.startswith("11.")}
    network.load_state_dict(own, strict=False)
    return network


def _column(name: str, build: Callable[[], nn.Module]) -> Column:
    return replace(
        COLUMNS[1],
        key=f"letters_{name.replace(' ', '_')}",
        title=f"{name} weights",
        make=lambda request, count: digits(request, build, count),
        effort={"small": _EFFORT, "paper": _EFFORT},
        published="cnn_pretrained",
    )


def _claims(cells: dict[str, Cell]) -> list[Claim]:
    claims = []
    for measure in _MEASURES:
        for method in _METHODS:
            published, *own = (pearson(*cell.pair(measure, method)) for cell in cells.values())
            values = [one.value for one in own]
            paper = cells["published"].column.paper.get((measure, method, False))
            claims.append(Claim.of(f"published: {measure}, {method}", published, paper=paper))
            each = f"mean over {len(own)} pretrainings, 95 % interval of Student"
            claims.append(Claim.of(f"own: {measure}, {method}", over_seeds(values), paper=paper, note=each))
            gap = _gap(values, published.value)
            what = f"own − published: {measure}, {method}"
            claims.append(Claim.of(what, gap, holds=gap.low <= 0 <= gap.high, note=_AS_PUBLISHED))
    return claims


def _gap(own: list[float], published: float) -> Interval:
    """How far the mean of our own lies from the published one, and how far one more of our own might."""
    further = one_more(own)
    return Interval(further.value - published, further.low - published, further.high - published)


def _accuracies(published: float, own: list[float], count: int) -> list[Claim]:
    reach = 1.96 * (published * (1 - published) / count) ** 0.5
    note = f"of {count} test letters; published: normal interval"
    return [
        Claim("published: test letters read", published, published - reach, published + reach, note=note),
        Claim.of("own: test letters read", over_seeds(own), note=note),
    ]


def _row(name: str, cell: Cell) -> dict[str, float | str]:
    found = {
        f"{measure}, {method}": pearson(*cell.pair(measure, method)).value
        for measure in _MEASURES
        for method in _METHODS
    }
    return {"weights": name, **found}
