"""Which source is worth more of: information of groups of samples, each sample alone and each group as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new, legend_above
from uniqueinfo.applications.grouping import By, groups_of
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.samples.border import FLAG, SEED, WHOLE, takes
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.scores.several import LabelPredictions, said_of
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.threads import sharing
from uniqueinfo.types import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MANY = 0.25
"""The share of labels that look wrong from which on it is the reason for a group's information."""
_MOST_RESAMPLES = 1_000_000  # more change no digit that is shown
_ENDS = (0.025, 0.975)  # quantiles: those of a 95 % interval
_PICTURES = 8  # of each group

QUESTION = Question(
    "compare",
    help="Compare sources, annotators or classes: which is worth more of?",
    example="runs/mnist --by annotator",
    options=(
        Option("by", str, "label", help="Column of groups: source, annotator, label, …", metavar="COLUMN"),
        Option("seed", int, 0, help="Of the intervals."),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Answer):
    """Groups of samples, those whose samples carry the most information first."""

    name = "compare"
    title = "Which source is worth more of?"

    by: str
    table: pd.DataFrame
    ratio: tuple[float, float, float]
    """Mean information of the first group over that of the second, with its 95 % interval."""
    contradicted: bool
    """Whether far more of the first group's labels look wrong than of the others'."""
    harmful: bool
    """Whether the first group's samples make the validation loss worse: the interval of their mean value is below 0."""
    members: tuple[Indices, ...]
    """Positions of each group's samples, the most informative first."""

    @property
    def sentence(self) -> str:
        """Which group's samples carry most, how sure that is, and whether they help."""
        first, second = self.table["group"].iloc[:2]
        ratio, low, high = self.ratio
        times = f"{ratio:.3g} times that of {second} (95 % interval {low:.3g} to {high:.3g})"
        if not low > 1:
            found = f"No {self.by} stands out: a sample of {first} carries {times}."
        else:
            found = f"Samples of {first} carry the most information, on average {times}, which comes next."
        if self.contradicted:
            share = self.table["contradicted"].iloc[0]
            found += (
                f" They are informative because they are contradicted: the network trained without them takes "
                f"{share:.0%} of their labels for wrong. Mend these before getting more of {first}."
            )
        if self.harmful:
            found += f" But they make the validation loss worse: look at the labels of {first} before getting more."
        return found

    def frame(self) -> pd.DataFrame:
        """One row per group.

        Columns: group, samples, information (mean of its samples') with low and high (95 %, bootstrap over samples);
        contradicted (the share of its labels that the network trained without them takes for wrong) where labels are
        classes; value (mean) where validation labels are known; and, of the group as a whole, whole (information lost
        when all of it leaves at once), per_sample (the same over its size), and whole_value.
        """
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean information of the groups with intervals, and the whole group's share per sample."""
        from matplotlib import ticker

        axes = axes_or_new(ax)
        at, mean = np.arange(len(self.table))[::-1], self.table["information"]
        spread = [(mean - self.table["low"]).fillna(0), (self.table["high"] - mean).fillna(0)]
        axes.errorbar(mean, at, xerr=spread, fmt="o", capsize=3, label="a sample leaves alone (mean, 95 %)")
        if "per_sample" in self.table:
            label = "all leave together, per sample"
            axes.plot(self.table["per_sample"], at, "D", fillstyle="none", label=label)
        names = [f"{name} ({count:,})" for name, count in zip(self.table["group"], self.table["samples"], strict=True)]
        axes.set(yticks=at, yticklabels=names, xlabel="information", ylabel=self.by, xscale="log")
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:.2g}")
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
        axes.margins(y=0.15)
        legend_above(axes)
        return axes

    def galleries(self) -> tuple[Gallery, ...]:
        """The most informative samples of each group."""
        return tuple(
            Gallery(f"{self.by}: {name}", tuple(Shown(int(at), f"{name}") for at in members[:_PICTURES]))
            for name, members in zip(self.table["group"], self.members, strict=True)
        )


@takes(scores=SCORES, whole=FLAG, resamples=WHOLE, seed=SEED)
@sharing()
def compare(scores: Scores, by: By, *, whole: bool = True, resamples: int = 2000, seed: int = 0) -> Compared:
    """Groups of samples compared: sources, annotators, cohorts, classes.

    `by` names a column (or "label"), or gives the group of every sample. Information is functional where there are
    validation samples, else in the weights. `whole` also lets each group leave at once, which tells what only this
    group knows: samples that repeat one another carry little each, and may carry much together.
    `scores`: as `ui.score` or `ui.load` gives them.
    `resamples`, `seed`: how many redraws the intervals come from, and which.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> scores = score_features(X, np.array([1.0, 1.0, 1.0, 1.0]), X, training=Converged(), head="paper")
    >>> compare(scores, ["often", "often", "often", "once"]).frame()[["group", "information", "whole"]].round(3)
       group  information  whole
    0   once        0.125  0.125
    1  often        0.000  0.375
    """
    if not 1 <= resamples <= _MOST_RESAMPLES:
        raise InputError(f"resamples: expected 1 to {_MOST_RESAMPLES:,}, got {resamples}; 2,000 are usual")
    name, groups = _groups(scores, by)
    names, sizes = list(groups.categories.astype(str)), np.bincount(groups.codes, minlength=len(groups.categories))
    information = scores.information
    members = [np.flatnonzero(groups.codes == code) for code in range(len(names))]
    rng = np.random.default_rng(seed)
    draws = np.stack([_bootstrap(information[at], resamples, rng) for at in members])
    low, high = np.quantile(draws, _ENDS, axis=1)
    alone = sizes == 1  # one sample has no interval
    table: dict[str, Any] = {
        "group": names,
        "samples": sizes,
        "information": np.array([information[at].mean() for at in members]),
        "low": np.where(alone, np.nan, low),
        "high": np.where(alone, np.nan, high),
    }
    said = said_of(scores)
    judged = isinstance(said, Predictions | LabelPredictions)
    if isinstance(said, Predictions | LabelPredictions):
        against = said.margin.reshape(len(scores), -1).min(axis=1) < 0
        table["contradicted"] = np.array([against[at].mean() for at in members])
    if scores.value is not None:
        table["value"] = np.array([scores.value[at].mean() for at in members])
    if whole:
        table |= _whole(scores, members, sizes)
    order = np.argsort(-np.asarray(table["information"]), kind="stable")
    first, second = order[:2]
    with np.errstate(divide="ignore", invalid="ignore"):  # a group without information: how many times is infinite
        ratio = np.divide(table["information"][first], table["information"][second])
        span = np.nanquantile(draws[first] / draws[second], _ENDS)
    value = None if scores.value is None else _bootstrap(scores.value[members[first]], resamples, rng)
    return Compared(
        name,
        pd.DataFrame(table).iloc[order].reset_index(drop=True),
        (float(ratio), float(span[0]), float(span[1])),
        contradicted=judged and _stands_out(table["contradicted"], int(first)),
        harmful=value is not None and float(np.quantile(value, _ENDS[1])) < 0,
        members=tuple(members[group][np.argsort(-information[members[group]], kind="stable")] for group in order),
    )


def _groups(scores: Scores, by: By) -> tuple[str, pd.Categorical[Any]]:
    name, groups = groups_of(by, scores.frame(), len(scores))
    if not 2 <= len(groups.categories) < max(3, len(scores)):
        raise InputError(
            f"by: {name} has {len(groups.categories)} different values for {len(scores)} samples; name a "
            "column of at least two groups, with several samples in some of them"
        )
    return name, groups


def _stands_out(shares: Floats, group: int) -> bool:
    """Whether a group's share is large, and twice that of the others.

    >>> _stands_out(np.array([0.05, 0.5, 0.1]), 1), _stands_out(np.array([0.05, 0.1]), 1)
    (True, False)
    """
    others = np.delete(shares, group)
    return bool(shares[group] >= _MANY and shares[group] >= 2 * others.mean())


def _bootstrap(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Means of samples drawn with replacement; bounded memory whatever the group's size."""
    even = np.full(len(values), 1 / len(values))
    parts = slices(resamples, 8 * len(values))
    return np.concatenate(
        [rng.multinomial(len(values), even, part.stop - part.start) @ values for part in parts]
    ) / len(values)


def _whole(scores: Scores, members: list[Indices], sizes: Indices) -> dict[str, Floats]:
    """What is lost when each group leaves at once."""
    origin = scores.origin
    found = origin.run.leave_out(members).measures(origin.probe, progress=True)
    information = found.information
    table = {"whole": information, "per_sample": information / sizes}
    return table if found.value is None else table | {"whole_value": found.value}
