"""Which steps can run in float32: ``python -m benchmarks.precision``.

Every step from the network to the scores once in float32, all others in float64, against float64 throughout: relative
errors of F-SI, SI and of the change of each sample's own outputs (what leave-one-out predictions are made of), the rank
correlation of F-SI, how many of the lowest 5 % stay the lowest 5 %, and the time of the step against float64. Also, for
summarizing: ten rounds of dropping the lowest 5 % and scoring the rest anew, with eigenvalues and removals in float32.
Prints tables and writes them as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from benchmarks.options import small_and_json
from benchmarks.precision_problems import Pair, pairs
from benchmarks.stages import Found, Pipeline, Precision, Problem
from uniqueinfo import GradientFlow, Linearization, stopping_curve
from uniqueinfo.types import Floats

_STEPS = ("products", "sums", "eigenvalues", "rotation", "removal", "measures")
_LONGER = 30
"""Times the best stopping time, for the harder of two cases."""
_LOWEST = 0.05
"""Share of samples, those with the least F-SI, that are compared by name."""
_ROUNDS = 10
"""How often the lowest samples are dropped and the rest are scored again."""


@dataclass(frozen=True)
class Line:
    """One step in float32, on one problem and for one length of training."""

    problem: str
    training: str
    step: str
    functional: tuple[float, float]
    """Relative error of F-SI: median and worst."""
    weight: tuple[float, float]
    outputs: tuple[float, float]
    rank: float
    lowest: float
    """Of the 5 % of samples with the least F-SI, the share that both precisions name."""
    time: float | None
    """Processor seconds in float32 over those in float64, of this step alone."""


def main() -> None:
    given = small_and_json(__doc__, "a tenth of the samples", "precision.json")
    console = Console(width=180)
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    lines: list[Line] = []
    rounds: list[dict[str, object]] = []
    for pair in pairs(10 if given.small else 1):
        for name, training in trainings(pair.whole).items():
            whole = Pipeline(pair.whole, training, Precision()).run()
            gap = agreement(pair.whole, training, whole)
            console.print(f"{pair.whole.name}, {name}: float64 throughout is the library's F-SI to {gap:.1e}")
            found = list(compared(pair, name, training, whole))
            lines += found
            console.print(shown(found))
            if pair.whole.kernel is not None:
                rounds.append(iterative(pair.whole, name, training))
                console.print(rounds[-1])
        written = {"stages": [asdict(line) for line in lines], "iterative": rounds}
        given.json.write_text(json.dumps(written, indent=1), encoding="utf-8")


def trainings(problem: Problem) -> dict[str, GradientFlow]:
    best = stopping_curve(linearization(problem)).best
    return {
        "best stop": GradientFlow(best.lr, float(best.steps)),
        f"{_LONGER} times as long": GradientFlow(best.lr, float(_LONGER * best.steps)),
    }


def linearization(problem: Problem) -> Linearization:
    if problem.kernel is not None:
        return Linearization.from_kernel(problem.kernel, problem.residual[..., 0])
    assert problem.rows is not None
    return Linearization.from_jacobian(problem.rows, problem.residual[..., 0], form="primal")


def agreement(problem: Problem, training: GradientFlow, ours: Found) -> float:
    """The largest relative difference of F-SI from the library's."""
    made = linearization(problem)
    rows = problem.rows_val
    if problem.kernel_val is not None:
        rows = problem.kernel_val.reshape(problem.validation, problem.residual.shape[1], -1)
    theirs = made.train(training).leave_out().functional_information(made.probe(rows))
    return float(np.abs(ours.functional / theirs - 1).max())


def compared(pair: Pair, name: str, training: GradientFlow, whole: Found) -> Iterator[Line]:
    steps = [step for step in _STEPS if pair.whole.kernel is None or step not in ("products", "sums")]
    for step, problem in pair.variants.items():
        yield line(pair.whole.name, name, step, Pipeline(problem, training, Precision()).run(), whole, None)
    for step in steps:
        single = ("products", "sums") if step == "sums" else (step,)
        found = Pipeline(pair.whole, training, Precision.single(*single)).run()
        timed = "products" if step == "sums" else step
        label = {"products": "products of chunks", "sums": "products and their sum"}.get(step, step)
        yield line(pair.whole.name, name, label, found, whole, found.seconds[timed] / whole.seconds[timed])
    for label, chosen in (
        ("eigenvalues, rotation, removal", ("eigenvalues", "rotation", "removal")),
        ("rotation, removal, measures", ("rotation", "removal", "measures")),
        ("all of these", tuple(steps)),
    ):
        found = Pipeline(pair.whole, training, Precision.single(*chosen)).run()
        ratio = sum(found.seconds.get(step, 0) for step in chosen) / sum(whole.seconds.get(step, 0) for step in chosen)
        yield line(pair.whole.name, name, label, found, whole, ratio)


def line(problem: str, training: str, step: str, found: Found, whole: Found, ratio: float | None) -> Line:
    def off(ours: Floats, theirs: Floats) -> tuple[float, float]:
        axes = tuple(range(1, ours.ndim))
        error, size = (np.sqrt(np.square(x).sum(axis=axes)) for x in (ours - theirs, theirs))
        return float(np.median(error / size)), float((error / size).max())

    rank = float(spearmanr(found.functional, whole.functional).statistic)
    return Line(
        problem,
        training,
        step,
        off(found.functional, whole.functional),
        off(found.weight, whole.weight),
        off(found.outputs, whole.outputs),
        rank,
        len(lowest(found) & lowest(whole)) / len(lowest(whole)),
        ratio,
    )


def lowest(found: Found) -> set[int]:
    count = max(1, int(_LOWEST * len(found.functional)))
    return set(np.argsort(found.functional, kind="stable")[:count].tolist())


def iterative(problem: Problem, name: str, training: GradientFlow) -> dict[str, object]:
    """Drop the lowest 5 % and score the rest, ten times, in both precisions: what they still have in common."""
    kept = [np.arange(len(problem.residual)) for _ in range(2)]
    common = []
    for _ in range(_ROUNDS):
        for way, precision in enumerate((Precision(), Precision.single("eigenvalues", "rotation", "removal"))):
            found = Pipeline(problem.take(kept[way]), training, precision).run()
            gone = list(lowest(found))
            kept[way] = np.delete(kept[way], gone)
        common.append(len(np.intersect1d(kept[0], kept[1])) / len(kept[0]))
    return {"problem": problem.name, "training": name, "kept in common after each round": np.round(common, 4).tolist()}


def shown(lines: list[Line]) -> Table:
    table = Table("step in float32", title=f"{lines[0].problem}, {lines[0].training}")
    for column in ("F-SI median", "worst", "SI median", "worst", "own outputs", "worst", "rank", "lowest 5 %", "time"):
        table.add_column(column, justify="right")
    for one in lines:
        errors = [f"{value:.1e}" for pair in (one.functional, one.weight, one.outputs) for value in pair]
        ratio = "" if one.time is None else f"{one.time:.2f}"
        table.add_row(one.step, *errors, f"{one.rank:.5f}", f"{one.lowest:.0%}", ratio)
    return table


if __name__ == "__main__":
    main()
