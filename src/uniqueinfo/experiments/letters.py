"""Pretraining done again: do weights of our own, from EMNIST's letters, give the same cell of Table 1 as the published?

The paper's CNN is pretrained on 13,000 letters (500 of each; the paper had 124,800), moved at random, in 40 passes.
From these weights, and from the published ones, with the same fresh last layer, it learns 100 fours and nines; 20 of
them are left out in turn, along the same gradient flow. Sizes were chosen before any result, so that it takes minutes.
Ten passes over letters that were not moved had come first: that network read 88 % of the test letters, and its weights
were foretold less closely than those of the published one (.80 against .98).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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
from uniqueinfo.experiments.table1_cells import Cell, compute
from uniqueinfo.experiments.table1_figure import figure
from uniqueinfo.experiments.table1_problems import COLUMNS, Column, Effort, digits
from uniqueinfo.runs.photos.npz_weights import fill_from_npz
from uniqueinfo.statistics.bootstrap import bootstrap
from uniqueinfo.statistics.correlation import correlation_matrix, pearson
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

_EFFORT = Effort(left_out=20, influenced=3, lissa_batch=32, flow=True, samples=100)
_MEASURES, _METHODS = ("weights", "predictions"), ("linearization", "both ends")
_AS_PUBLISHED = "interval by redrawing samples, of both at once; the same where it holds 0"


def run(request: Request) -> Result:
    """Pretrain, then one cell from each file of weights."""
    letters = load("emnist_letters", request.data)
    own = _pretrained(letters, request)
    weights = {"published": lambda: paper_cnn(1, emnist_cnn(request.data)), "own": lambda: _filled(own)}
    published = paper_cnn(len(letters.classes))
    fill_from_npz(published, emnist_cnn(request.data), fresh="none")
    shares = {"published": read(published, letters["test"]), "own": float(own["accuracy"].item())}
    cells = {name: compute(_column(name, build), False, request) for name, build in weights.items()}
    return Result(
        table=pd.DataFrame([_row(name, cell) for name, cell in cells.items()]),
        figures={"letters": figure(list(cells.values()), _METHODS)},
        claims=[*_claims(cells), *(_accuracy(name, share, len(letters["test"])) for name, share in shares.items())],
        settings={
            "epochs": EPOCHS,
            "letters": len(letters["train"]),
            "training": cells["own"].facts["training"],
            "samples": _EFFORT.samples,
            "left out": _EFFORT.left_out,
        },
        data={"emnist_letters": letters.fingerprint, "mnist_4v9": cells["own"].facts["data"]},
        captions={
            "letters": "Scores of left-out digits against really training again without them, from the published "
            "weights and from our own, and their correlations; crosses are the paper's."
        },
    )


def _pretrained(letters: Dataset[Pixels], request: Request) -> Arrays:
    """The weights by name, and `accuracy`."""

    def compute() -> Arrays:
        network, accuracy = pretrained_cnn(letters, EPOCHS, request.seed)
        return {name: tensor.numpy() for name, tensor in network.state_dict().items()} | {
            "accuracy": np.array([accuracy])
        }

    return kept_arrays(request.work, "letters", f"{letters.fingerprint} {EPOCHS} {request.seed}".encode(), compute)


def _filled(weights: Arrays) -> nn.Module:
    """All but the last layer, which is drawn anew."""
    network = paper_cnn(1)
    own = {name: torch.from_numpy(weights[name]) for name in network.state_dict() if not name.startswith("11.")}
    network.load_state_dict(own, strict=False)
    return network


def _column(name: str, build: Callable[[], nn.Module]) -> Column:
    return replace(
        COLUMNS[1],
        key=f"letters_{name}",
        title=f"{name} weights",
        make=lambda request, count: digits(request, build, count),
        effort={"small": _EFFORT, "paper": _EFFORT},
        published="cnn_pretrained",
    )


def _claims(cells: dict[str, Cell]) -> list[Claim]:
    claims = []
    for measure in _MEASURES:
        for method in _METHODS:
            pairs = {name: cell.pair(measure, method) for name, cell in cells.items()}
            paper = cells["own"].column.paper.get((measure, method, False))
            for name, pair in pairs.items():
                claims.append(Claim.of(f"{name}: {measure}, {method}", pearson(*pair), paper=paper))
            gap = _gap(*pairs["own"], *pairs["published"])
            what = f"own − published: {measure}, {method}"
            claims.append(Claim.of(what, gap, holds=gap.low <= 0 <= gap.high, note=_AS_PUBLISHED))
    return claims


def _gap(first: Floats, first_truth: Floats, second: Floats, second_truth: Floats) -> Interval:
    """The difference of two correlations over the same samples.

    >>> known = np.arange(4.0)
    >>> _gap(known, known, -known, known).value
    2.0
    """

    def gap(drawn: Floats) -> Floats:
        found = correlation_matrix(np.swapaxes(drawn, -1, -2))
        return np.asarray(found[..., 0, 1] - found[..., 2, 3])

    return bootstrap(np.stack([first, first_truth, second, second_truth], axis=1), gap)


def _accuracy(name: str, share: float, count: int) -> Claim:
    reach = 1.96 * (share * (1 - share) / count) ** 0.5
    note = f"of {count} test letters, normal interval"
    return Claim(f"{name}: test letters read", share, share - reach, share + reach, note=note)


def _row(name: str, cell: Cell) -> dict[str, float | str]:
    found = {
        f"{measure}, {method}": pearson(*cell.pair(measure, method)).value
        for measure in _MEASURES
        for method in _METHODS
    }
    return {"weights": name, **found}
