"""All scores by linearization against influence functions for the same scores: ``python -m benchmarks.influence``.

MNIST 4 v 9, MLP of 1024, n = m = 1000. Linearization scores every sample, from the network to SI, F-SI and
leave-one-out outputs. Influence functions are timed on some samples and on a quarter of them, and the difference, which
holds nothing that is done once for all, is multiplied up to n. Times are those of the processor, all threads together,
so that what else the machine does is not counted.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.data import mnist_4v9
from benchmarks.training import checkpoints
from uniqueinfo import GradientDescent, score
from uniqueinfo.baselines.influence import ConjugateGradients, LiSSA, Solver, influence
from uniqueinfo.experiments.networks import mlp

TRAINING = GradientDescent(lr=0.001, steps=2000)  # the paper's
TRAINED = GradientDescent(lr=0.002, steps=100)  # influence functions take as long at any weights
LISSA = LiSSA()  # the paper's settings
GRADIENTS = ConjugateGradients(damping=LISSA.damping * LISSA.scale, tolerance=1e-3)  # the system LiSSA solves
WANTED = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=8, help="how many samples influence functions are timed on")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="write the figures here too")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    X, X_val, labels = mnist_4v9()
    train, n = (X, labels), len(X)
    torch.manual_seed(0)
    start = mlp()
    trained = copy.deepcopy(start)
    checkpoints(trained, X, labels[:, None].float(), TRAINED, every=TRAINED.steps)
    chosen = np.random.default_rng(0).choice(n, arguments.samples, replace=False)

    def solve(solver: Solver, count: int) -> float:
        return seconds(lambda: influence(trained, train, X_val, solver=solver, samples=chosen[:count]))

    ours = min(seconds(lambda: score(start, train, X_val, training=TRAINING)) for _ in range(3))
    rows: list[dict[str, Any]] = [{"way": "linearization", "samples": n, "seconds": ours, "all": ours}]
    for solver in (LISSA, GRADIENTS):
        few = len(chosen) // 4
        less, taken = solve(solver, few), solve(solver, len(chosen))
        each = (taken - less) / (len(chosen) - few)
        rows.append({"way": repr(solver), "samples": len(chosen), "seconds": taken, "all": each * n})
    table = Table("way", "samples", "seconds", f"seconds for {n:,}", "times ours", title="SI and F-SI, MLP of 1024")
    for row in rows:
        row["ratio"] = row["all"] / ours
        extrapolated = "" if row["samples"] == n else "≈ "
        table.add_row(
            row["way"],
            f"{row['samples']:,}",
            f"{row['seconds']:.2f}",
            f"{extrapolated}{row['all']:,.1f}",
            f"{extrapolated}{row['ratio']:,.0f}",
        )
    console = Console(width=160)
    console.print(table)
    kept = "kept" if min(row["ratio"] for row in rows[1:]) >= WANTED else "NOT kept"
    console.print(f"at least {WANTED} × faster than either: {kept}")
    console.print(f"torch {torch.__version__}, threads: {arguments.threads}, load: {os.getloadavg()[0]:.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
