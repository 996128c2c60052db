"""Who says best what training without some samples gives? ``python -m benchmarks.attribution --page PAGE.md``.

MNIST 4 v 9, MLP of 1024, full-batch descent. The truth is retraining: on random halves of the data (LDS) and without
single samples (leave-one-out correlation); it is kept in the folder and gone on with. Every method gives each
training sample's effect on each validation output, and both figures are rank correlations with the truth, averaged
over validation samples, with a 95 % bootstrap interval over these. LiSSA is too slow for all samples: it is run on
those that are left out alone. A row for traker comes where it is installed.
"""

from __future__ import annotations

import argparse
import copy
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch import Tensor

from benchmarks import traker
from benchmarks.attribution_page import write_page
from benchmarks.data import mnist_4v9
from benchmarks.training import checkpoints
from uniqueinfo import Converged, GradientDescent, LinearizedNetwork, VerySparse, linearize
from uniqueinfo.baselines.gradients import tracin
from uniqueinfo.baselines.influence import ConjugateGradients, Kind, LiSSA, influence
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.baselines.trak import trak
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.statistics.correlation import (
    leave_one_out_correlation,
    linear_datamodeling_score,
    random_subsets,
)
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

TRAINING = GradientDescent(lr=0.002, steps=300)
LISSA = LiSSA()  # the paper's settings
SOLVED: tuple[tuple[ConjugateGradients, Kind], ...] = (
    (ConjugateGradients(damping=LISSA.damping * LISSA.scale, tolerance=1e-2), "hessian"),  # the system LiSSA solves
    # Stopping after a time damps like one over it; the Hessian itself may have directions more negative than that.
    (ConjugateGradients(damping=1 / (TRAINING.lr * TRAINING.steps), tolerance=1e-2), "gauss-newton"),
)
EVERY = 30
"""Steps between TracIn's checkpoints."""
SKETCHES = (32, 128)
"""Columns that TRAK projects to: well below the number of samples, as its inverse has no damping."""


@dataclass(eq=False)
class Task:
    """The data, the network before and after training, and what is left out."""

    X: Tensor
    y: Tensor
    X_val: Tensor
    halves: NDArray[np.bool_]
    singles: NDArray[np.intp]

    def __post_init__(self) -> None:
        torch.manual_seed(0)
        self.start = mlp()
        self.trained = copy.deepcopy(self.start)
        self.states = checkpoints(self.trained, self.X, self.y[:, None], TRAINING, EVERY)[:-1]

    @property
    def train(self) -> tuple[Tensor, Tensor]:
        return self.X, self.y

    @cached_property
    def linearized(self) -> LinearizedNetwork:
        return linearize(self.start, self.train, self.X_val)

    @cached_property
    def at_both_ends(self) -> LinearizedNetwork:
        return linearize(self.start, self.train, self.X_val, trained=self.trained)


@dataclass(frozen=True, eq=False)
class Truth:
    """Validation outputs with everything (m,), without each half (subsets, m), without each single sample."""

    full: Floats
    halves: Floats
    singles: Floats
    seconds: float


@dataclass(frozen=True)
class Found:
    """One line of the table."""

    method: str
    lds: Interval | None
    leave_one_out: Interval | None
    seconds: float
    """Of the processor, all threads together: what else the machine does is not counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300, help="training samples, of 1000")
    parser.add_argument("--val", type=int, default=100, help="validation samples, of 1000")
    parser.add_argument("--subsets", type=int, default=40, help="random halves trained on")
    parser.add_argument("--singles", type=int, default=30, help="samples left out alone")
    parser.add_argument("--without-lissa", action="store_true", help="leave out the slowest of them")
    parser.add_argument("--folder", type=Path, help="keeps the retrainings, to go on with")
    parser.add_argument("--page", type=Path, help="write a page here, and the figures beside it")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    X, X_val, labels = mnist_4v9()
    n = arguments.samples
    task = Task(
        X[:n],
        labels[:n].float(),
        X_val[: arguments.val],
        random_subsets(n, arguments.subsets),
        np.sort(np.random.default_rng(0).choice(n, arguments.singles, replace=False)),
    )
    truth = retrained(task, arguments.folder)
    console = Console(width=150)
    console.print(
        f"MNIST 4 v 9, MLP of 1024, n = {n}, m = {len(task.X_val)}, {TRAINING}\n"
        f"truth: {arguments.subsets} halves and {arguments.singles} samples left out, {truth.seconds:.0f} s of training"
    )
    table = Table("method", "LDS", "leave-one-out", "processor seconds")
    lines = []
    for found in [*compared(task, truth), *([] if arguments.without_lissa else [lissa(task, truth)])]:
        table.add_row(found.method, str(found.lds or "–"), str(found.leave_one_out or "–"), f"{found.seconds:.1f}")
        lines.append(found)
    console.print(table)
    console.print(f"torch {torch.__version__}, threads: {arguments.threads}, load: {os.getloadavg()[0]:.1f}")
    if not traker.is_here():
        console.print("traker is not installed: pip install traker")
    if arguments.page:
        counted = {
            "samples": n,
            "halves": len(task.halves),
            "singles": len(task.singles),
            "validation": len(task.X_val),
        }
        described = f"MNIST 4 against 9, MLP of 1024, {n} training samples, {TRAINING}."
        about = {"task": described, "truth": counted | {"seconds": truth.seconds}}
        write_page(about | {"methods": [as_json(line) for line in lines]}, arguments.page)


def retrained(task: Task, folder: Path | None) -> Truth:
    """Train on the halves, and without the single samples."""
    halves = retrain(
        task.start,
        task.train,
        task.X_val,
        training=TRAINING,
        groups=[np.flatnonzero(half) for half in task.halves],
        folder=None if folder is None else folder / "halves",
    )
    singles = retrain(
        task.start,
        task.train,
        task.X_val,
        training=TRAINING,
        samples=task.singles,
        folder=None if folder is None else folder / "singles",
    )
    assert singles.outputs is not None
    assert singles.outputs_without is not None
    assert halves.outputs_without is not None
    seconds = halves.seconds + singles.seconds
    return Truth(singles.outputs[:, 0], halves.outputs_without[..., 0], singles.outputs_without[..., 0], seconds)


def compared(task: Task, truth: Truth) -> Iterator[Found]:
    """Each method, as it is done."""
    methods: dict[str, Callable[[Task], Floats]] = {
        "linearization, leave-one-out": lambda task: left_out(task.linearized),
        "linearization at both ends, leave-one-out": lambda task: left_out(task.at_both_ends),
        f"TracIn, {len(task.states)} checkpoints": traced,
    }
    for solver, kind in SOLVED:
        name = f"influence functions, {kind}, conjugate gradients, damping {solver.damping:.3g}"
        methods[name] = partial(influenced, solver=solver, kind=kind)
    for columns in SKETCHES:
        methods[f"TRAK (ours), 1 network, {columns} columns"] = partial(our_trak, columns=columns)
        if traker.is_here():
            methods[f"TRAK (traker), 1 network, {columns} columns"] = partial(their_trak, columns=columns)
    methods["random"] = lambda task: np.random.default_rng(0).normal(size=(len(task.X), len(task.X_val)))
    changes = truth.full - truth.singles
    for name, method in methods.items():
        started = time.process_time()
        effects = method(task)
        seconds = time.process_time() - started
        lds = linear_datamodeling_score(effects, task.halves, truth.halves)
        yield Found(name, lds, leave_one_out_correlation(effects[task.singles], changes), seconds)
    yield together("linearization, halves left out together", task.linearized, task, truth)
    yield together("linearization at both ends, halves left out together", task.at_both_ends, task, truth)


def lissa(task: Task, truth: Truth) -> Found:
    """On the samples left out alone: there is no LDS without the others."""
    started = time.process_time()
    found = influence(task.trained, task.train, task.X_val, solver=LISSA, samples=task.singles).output_changes
    assert found is not None
    agreement = leave_one_out_correlation(found[..., 0], truth.full - truth.singles)
    name = f"influence functions, LiSSA, on {len(task.singles)} samples"
    return Found(name, None, agreement, time.process_time() - started)


def left_out(linearized: LinearizedNetwork) -> Floats:
    """f_w − f_w₋ᵢ of the linearized network."""
    removal = linearized.train(TRAINING).leave_out()
    return np.concatenate([moved for _, moved in removal.output_changes(linearized.validation)])[..., 0]


def together(name: str, linearized: LinearizedNetwork, task: Task, truth: Truth) -> Found:
    """The halves left out at once in the linearized network: no sum over samples stands between it and the truth."""
    started = time.process_time()
    removal = linearized.train(TRAINING).leave_out(groups=[np.flatnonzero(half) for half in task.halves])
    effects = np.empty(truth.halves.shape)
    for numbers, moved in removal.output_changes(linearized.validation):
        effects[numbers] = moved[..., 0]
    seconds = time.process_time() - started
    return Found(name, leave_one_out_correlation(effects, truth.full - truth.halves), None, seconds)


def traced(task: Task) -> Floats:
    """Every step is counted, at the checkpoint before it."""
    rate = EVERY * TRAINING.lr / len(task.X)
    found = tracin(task.trained, task.states, task.train, task.X_val, rates=rate).output_changes
    assert found is not None
    return found[..., 0]


def influenced(task: Task, solver: ConjugateGradients, kind: Kind) -> Floats:
    found = influence(task.trained, task.train, task.X_val, solver=solver, curvature=kind).output_changes
    assert found is not None
    return found[..., 0]


def our_trak(task: Task, columns: int) -> Floats:
    return trak(task.trained, task.train, task.X_val, projection=VerySparse(columns), training=Converged())[..., 0]


def their_trak(task: Task, columns: int) -> Floats:
    val = task.X_val, torch.zeros(len(task.X_val))  # of one output no label is asked for
    return traker.effects(task.trained, task.train, val, columns)


def as_json(found: Found) -> dict[str, Any]:
    figures = {"lds": found.lds, "leave_one_out": found.leave_one_out}
    return {"method": found.method, "seconds": round(found.seconds, 2)} | {
        name: None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high}
        for name, figure in figures.items()
    }


if __name__ == "__main__":
    main()
