"""Scoring what is left after every batch, from one eigenproblem, against scoring it each time from the start.

``python -m benchmarks.summarize`` prints the ratio of the two, in processor seconds of one run, for the MLP on MNIST
and for ResNet-18 on small photographs. Both ways leave the same samples out; the scores of all samples, which either
starts from, are not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch import nn

import uniqueinfo as ui
from benchmarks.data import FOLDER
from uniqueinfo.experiments.data import MNIST, Dataset, Preparation, Prepared, imagenet, load
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.jacobian import Projection
from uniqueinfo.linearization.selection import Selection
from uniqueinfo.linearization.subsets import Subset
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.types import Indices

BOUND = 20
TRAINING = ui.GradientFlow(lr=0.001, time=2000.0)
T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A network, its data, and how many samples are left after each batch."""

    what: str
    model: nn.Module
    data: str
    samples: int
    preparation: Preparation
    counts: range
    projection: Projection | None = None

    def scores(self, kept: Indices | slice = slice(None)) -> ui.Scores:
        data = loaded(self.data)
        train, val = (data[part].draw(self.samples) for part in ("train", "val"))
        parts = [Prepared(part, self.preparation) for part in (train.take(kept), val)]
        return ui.score(self.model, *parts, training=TRAINING, projection=self.projection, progress=False)


def main() -> None:
    console = Console(width=160)
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; processor seconds of all rounds")
    table = Table("what", "rounds", "from one eigenproblem", "from the start", "ratio", "bound", "kept", "same samples")
    for case in cases():
        found = measured(case)
        ratio = found["anew"] / found["ours"]
        numbers = (f"{len(case.counts)}", f"{found['ours']:.2f}", f"{found['anew']:.2f}", f"{ratio:.1f}", f"≥ {BOUND}")
        table.add_row(case.what, *numbers, "yes" if ratio >= BOUND else "NO", f"{found['same']:.1%}")
    console.print(table)


def measured(case: Case) -> dict[str, Any]:
    """Processor seconds of both ways, and the share of samples that both keep."""
    scores = case.scores()
    ours, kept = timed(lambda: list(rescored(scores, case.counts)))
    anew_seconds, other = timed(lambda: list(anew(case, information(scores))))
    same = float(np.mean([np.isin(one, two).mean() for one, two in zip(kept, other, strict=True)]))
    return {"what": case.what, "ours": ours, "anew": anew_seconds, "same": same}


def cases() -> Iterator[Case]:
    torch.manual_seed(0)
    rounds = range(950, 299, -50)
    network = mlp()
    yield Case("MLP 1024, MNIST 4v9, n = m = 1000, exact kernels", network, "mnist_4v9", 1000, MNIST, rounds)
    what = "the same, 2000 coordinates of each parameter"
    yield Case(what, network, "mnist_4v9", 1000, MNIST, rounds, ui.RandomCoordinates(2000))
    resnet = ResNet18(1, FOLDER / "resnet18_imagenet_backbone.npz").eval()
    what = "ResNet-18, cats v dogs at 64 pixels, n = m = 100, 500 coordinates"
    yield Case(what, resnet, "cats_dogs", 100, imagenet(64), range(95, 69, -5), ui.RandomCoordinates(500))


@cache
def loaded(name: str) -> Dataset[Any]:
    return load(name, FOLDER)


def rescored(scores: ui.Scores, counts: range) -> Iterator[Indices]:
    """Ours."""
    strata = np.zeros(len(scores), dtype=np.intp)
    selection = Selection(Subset(scores.origin.run, scores.origin.probe), information(scores), strata)
    yield from selection.rounds("iterative", counts, seed=0)


def anew(case: Case, first: NDArray[np.float64]) -> Iterator[Indices]:
    """From the network each time."""
    kept = np.arange(case.samples)
    for count in case.counts:
        found = first if len(kept) == case.samples else information(case.scores(kept))
        kept = np.delete(kept, np.argsort(found, kind="stable")[: len(kept) - count])
        yield kept


def information(scores: ui.Scores) -> NDArray[np.float64]:
    assert scores.functional is not None
    return scores.functional


def timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


if __name__ == "__main__":
    main()
