"""Unique information averaged over random subsets of the data, in place of all of it.

Given all other samples, each of two duplicates is worth nothing. Shapley's average asks instead what a sample adds to
a random part of the data: first the size t of the part is drawn, 1 … n, each as likely, then the part T itself among
those of this size that hold the sample; what counts is F-SI of the sample within T.

One round draws a size and splits the samples at random into parts of this size (the last is filled up with samples of
the others, which do not count there again). So every round gives one value for each sample, all rounds are alike and
independent, and the standard error of the average is that of their spread. A part costs one eigendecomposition
for all its samples; the Jacobian is never computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from threadpoolctl import threadpool_limits

from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.linearization.points import Points
from uniqueinfo.linearization.subsets import Subset, Subsets
from uniqueinfo.progress import progress
from uniqueinfo.samples.border import NUMBER, SEED, WHOLE, takes
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.threads import sharing
from uniqueinfo.training import GradientFlow, Training
from uniqueinfo.types import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_FEWEST_ROUNDS = 10  # before their spread is believed
_PICTURES = 24  # of the samples that add most

QUESTION = Question(
    "shapley",
    help="What each sample adds to a random part of the data, with standard errors.",
    example="runs/mnist --subsets 100",
    options=(
        Option("subsets", int, 200, help="Average over at most this many random subsets.", least=2),
        Option(
            "tolerance",
            float,
            0.1,
            help="Stop once half the samples have a standard error below this share of their average.",
        ),
        Option("seed", int, 0, help="Of the subsets."),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Shapley(Answer):
    """Each sample's information averaged over random subsets, with its standard error."""

    name = "shapley"
    title = "What does each sample add to a random part of the data?"

    average: Floats
    standard_error: Floats
    subsets: int
    """How many random subsets each sample was looked at in."""
    tolerance: float
    training: Training
    """How subsets were trained."""
    table: pd.DataFrame

    @property
    def relative_error(self) -> float:
        """The median over samples of the standard error over the average."""
        return _relative_error(self.average, self.standard_error)

    @property
    def sentence(self) -> str:
        """How sure the averages are, and how they compare with the information given all other samples."""
        measure = "weight" if "weight" in self.table else "functional"
        rank = self.table["average"].corr(self.table[measure], method="spearman")
        reached = "" if self.relative_error <= self.tolerance else f", not the {self.tolerance:.0%} asked for"
        flow = "; subsets were trained by gradient flow, as descent at this rate may diverge on some"
        return (
            f"Averaged over {self.subsets:,} random subsets each, with a standard error of {self.relative_error:.1%} "
            f"(median{reached}); most is added by {self.table['id'].iloc[0]}. The rank correlation with the "
            f"information given all other samples is {rank:.2f}"
            f"{flow if isinstance(self.training, GradientFlow) else ''}."
        )

    def galleries(self) -> tuple[Gallery, ...]:
        """The samples that add most."""
        rows = self.table.iloc[:_PICTURES]
        shown = (Shown(int(at), f"{row['id']}: {row['average']:.2g}") for at, row in rows.iterrows())  # type: ignore[call-overload]
        return (Gallery("These add most to a random part of the data", tuple(shown)),)

    def frame(self) -> pd.DataFrame:
        """One row per sample, the largest average first.

        Columns: id, label (where there are any), average, standard_error, and the information given all other samples
        (functional, or weight where there is no validation data).
        """
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Average over subsets against the information given all other samples."""
        axes = axes_or_new(ax)
        given_all = self.table[self.table.columns[-1]]
        axes.errorbar(given_all, self.table["average"], yerr=self.table["standard_error"], fmt=".", linewidth=0.6)
        axes.set(xlabel="information given all other samples", ylabel="averaged over random subsets")
        if given_all.min() > 0:
            axes.set(xscale="log", yscale="log")
        return axes


@takes(scores=SCORES, subsets=WHOLE, tolerance=NUMBER, seed=SEED)
@sharing()
def shapley(scores: Scores, *, subsets: int = 200, tolerance: float = 0.1, seed: int = 0) -> Shapley:
    """Average over at most this many random `subsets` for each sample; stop once half the samples are sure enough.

    A sample is sure enough when the standard error of its average is no more than `tolerance` of it. Without validation
    samples the information in the weights is averaged. Subsets are trained by the algorithm of the scores; where a rate
    of gradient descent might diverge on some subset (the mean over few samples can be steeper), all subsets are
    trained by gradient flow of the same length.

    `scores`: as `ui.score` or `ui.load` gives them. `seed`: of the subsets.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([2.0, 2.0, 2.0])   # two duplicates
    >>> scores = score_features(X, y, np.eye(2), training=Converged(), head="paper")
    >>> scores.functional.round(9)                    # the other stands in for each
    array([0., 0., 1.])
    >>> shapley(scores, tolerance=0.05).average.round(1)  # without it in half of the subsets
    array([0.5, 0.5, 1. ])
    """
    if subsets < 2:
        raise InputError(f"subsets: expected at least 2, got {subsets}")
    if not tolerance > 0:
        raise InputError(f"tolerance: expected a share above 0, got {tolerance}")
    found_before = scores.origin
    total, squares = np.zeros((2, len(scores)))
    with _one_thread(), progress("Averaging over subsets", subsets, unit="subsets") as advance:
        origin = _stable(found_before)
        draws = _rounds(origin, np.random.default_rng(seed))
        for count in range(1, subsets + 1):
            found = next(draws)
            total, squares = total + found, squares + found**2
            average, error = _average(total, squares, count)
            advance(1)
            if count >= _FEWEST_ROUNDS and _relative_error(average, error) <= tolerance:
                break
    frame = scores.frame()
    measure = "weight" if scores.functional is None else "functional"
    table = frame[[name for name in ("id", "label") if name in frame]]
    table = table.assign(average=average, standard_error=error, **{measure: frame[measure]})
    table = table.sort_values("average", ascending=False, kind="stable")
    training = origin.run.training
    return Shapley(average, error, count, tolerance=tolerance, training=training, table=table)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Parts are small, and one thread is as quick as many; then sums are taken in one order, whatever the machine.

    In another order they round otherwise, and where that decides when to stop, the number of subsets would differ too.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):  # numpy's own
            yield
    finally:
        torch.set_num_threads(before)


def _rounds(origin: Origin, rng: np.random.Generator) -> Iterator[Floats]:
    """One value of each sample's information within a random subset, over and over."""
    parts, samples = Subsets(Subset(origin.run, origin.probe)), origin.run.samples
    while True:
        size = int(rng.integers(1, samples + 1))
        order = rng.permutation(samples)
        found = np.empty(samples)
        for start in range(0, samples, size):
            counted = order[start : start + size]
            others = rng.permutation(np.setdiff1d(order, counted))[: size - len(counted)]
            found[counted] = within(parts, np.concatenate([counted, others]))[: len(counted)]
        yield found


def within(parts: Subsets, subset: Indices) -> Floats:
    """Information of each sample of a subset given the others of it, in their order."""
    part = parts.of(subset)
    found = part.run.leave_out().measures(part.probe)
    return found.information


def _stable(origin: Origin) -> Origin:
    """The same, trained by gradient flow if descent at its rate may diverge on a subset or without one of its samples.

    Of t samples the largest eigenvalue is at most t times the largest ‖P_i‖², and t/(t − 1) ≤ 2 where one has left.
    """
    training = origin.run.training
    if not training.rate or training.reduction == "sum":
        return origin
    points = Points.of_training(origin)
    longest = max(float(points.read(part).square().sum(dim=1).max()) for part in points.parts())
    return origin.trained(training.stable(2 * longest, 1))


def _average(total: Floats, squares: Floats, count: int) -> tuple[Floats, Floats]:
    """The mean of `count` values, and its standard error, from their sum and the sum of their squares.

    >>> _average(np.array([6.0]), np.array([14.0]), 3)        # of 1, 2, 3
    (array([2.]), array([0.57735027]))
    """
    mean = total / count
    variance = np.maximum(squares / count - mean**2, 0) * count / max(count - 1, 1)
    return mean, np.sqrt(variance / count)


def _relative_error(average: Floats, error: Floats) -> float:
    known = average > 0
    return float(np.median(error[known] / average[known])) if known.any() else 0.0
