"""The report's figures as data: each has `.frame()` (pandas) and `.plot()` (matplotlib)."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.drawing import as_address, axes_or_new, legend_above
from uniqueinfo.scores.display import shown
from uniqueinfo.statistics.bins import bin_edges
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_BINS = 40
"""Bins of the distribution."""
_POINTS = 200
"""Points of the curve of concentration."""
_SMALLEST = 1e-12
"""Share of the largest score below which scores are drawn as if they were this share."""
_AT_REST = 1e-3
"""Share of the loss that it must fall by at the last time looked at for more time to be missed."""
_MOST_GROUPS = 40
"""Groups compared at most, the largest ones."""


class Figure(ABC):
    """What a figure of the page can do: its numbers, and its picture."""

    title: ClassVar[str]

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """The numbers."""

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """The picture."""

    def _repr_html_(self) -> str:
        return shown(self.title, self.frame(), as_address(self.plot))


@dataclass(frozen=True, eq=False)
class Distribution(Figure):
    """How many samples have how much information: counts over equal steps of log₁₀, by class."""

    title = "How many samples have how much information"

    edges: Floats
    counts: dict[str, NDArray[np.intp]]

    @classmethod
    def of(cls, information: Floats, classes: NDArray[Any], names: tuple[str, ...]) -> Distribution:
        """`classes` are numbers into `names`."""
        largest = float(information.max()) or 1.0
        logs = np.log10(np.maximum(information, largest * _SMALLEST))
        edges = bin_edges(logs, _BINS)
        counts = {name: np.histogram(logs[classes == at], edges)[0] for at, name in enumerate(names)}
        return cls(10**edges, counts)

    def frame(self) -> pd.DataFrame:
        """One row per bin: its bounds, and the count of each class."""
        return pd.DataFrame({"from": self.edges[:-1], "to": self.edges[1:], **self.counts})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Stacked counts on a log axis."""
        axes = axes_or_new(ax)
        below = np.zeros(len(self.edges) - 1)
        for name, count in self.counts.items():
            axes.bar(self.edges[:-1], count, np.diff(self.edges), bottom=below, align="edge", label=name)
            below = below + count
        axes.set(xscale="log", xlabel="unique information", ylabel="samples")
        legend_above(axes)
        return axes


@dataclass(frozen=True, eq=False)
class Concentration(Figure):
    """The share of all information that the most informative samples carry together."""

    title = "How much of the information few samples carry"

    samples: Floats
    """Shares of the samples, the most informative first, from 0 to 1."""
    information: Floats

    @classmethod
    def of(cls, information: Floats) -> Concentration:
        """From every sample's information."""
        total = np.concatenate([[0.0], np.cumsum(-np.sort(-information))])
        total = total / total[-1] if total[-1] > 0 else np.linspace(0, 1, len(total))
        at = np.unique(np.linspace(0, len(information), _POINTS).astype(int))
        return cls(at / len(information), total[at])

    def carried_by(self, share: float) -> float:
        """How much this share of the samples carries.

        >>> Concentration.of(np.array([3.0, 1.0])).carried_by(0.5)
        0.75
        """
        return float(np.interp(share, self.samples, self.information))

    def needed_for(self, share: float) -> float:
        """How few samples carry this share of the information."""
        return float(np.interp(share, self.information, self.samples))

    def frame(self) -> pd.DataFrame:
        """The curve's points."""
        return pd.DataFrame({"share_of_samples": self.samples, "share_of_information": self.information})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The curve, and the line on which all samples would carry the same."""
        axes = axes_or_new(ax)
        axes.plot(self.samples, self.information)
        axes.plot([0, 1], [0, 1], linestyle="--", color="gray")
        axes.set(xlabel="share of samples", ylabel="share of information")
        return axes


@dataclass(frozen=True, eq=False)
class Comparison(Figure):
    """Groups of samples (classes, or the values of a user's column) side by side."""

    title = "Groups of samples side by side"

    column: str
    table: pd.DataFrame
    """By group: samples, share_of_samples, share_of_information, mean, median; value and suspects where known."""
    left_out: int
    """Groups beyond those shown, the smallest ones."""

    @classmethod
    def of(cls, column: str, groups: pd.Series[Any], measures: Mapping[str, Any]) -> Comparison:
        """`measures`: information, and if known value and suspect, of every sample."""
        by = pd.DataFrame(measures).groupby(groups.to_numpy(), sort=True)
        information = by["information"]
        total = float(information.sum().sum()) or 1.0
        table = pd.DataFrame({"samples": by.size(), "share_of_samples": by.size() / len(groups)})
        table["share_of_information"] = information.sum() / total
        table["mean"], table["median"] = information.mean(), information.median()
        if "value" in measures:
            table["value"] = by["value"].mean()
        if "suspect" in measures:
            table["suspects"] = by["suspect"].sum()
        kept = table["samples"].nlargest(_MOST_GROUPS).index
        return cls(column, table.loc[sorted(kept, key=natural)], len(table) - len(kept))

    def frame(self) -> pd.DataFrame:
        """One row per group."""
        return self.table.rename_axis(self.column)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Share of samples beside share of information."""
        axes = axes_or_new(ax)
        at = np.arange(len(self.table))
        axes.barh(at - 0.2, self.table["share_of_samples"], 0.4, label="of samples")
        axes.barh(at + 0.2, self.table["share_of_information"], 0.4, label="of information")
        axes.set(yticks=at, yticklabels=[str(name) for name in self.table.index], xlabel="share")
        axes.invert_yaxis()
        legend_above(axes)
        return axes


@dataclass(frozen=True, eq=False)
class Stopping(Figure):
    """Leave-one-out loss against training time, and the time chosen."""

    title = "Leave-one-out loss against training time"

    steps: NDArray[np.intp] | Floats
    """Of descent; of flow its time, counted in steps."""
    loss: Floats
    chosen: float

    @property
    def at_the_end(self) -> bool:
        """Whether longer training might still have been better: the loss was falling, and not at rest."""
        falling = len(self.loss) < 2 or self.loss[-2] - self.loss[-1] > _AT_REST * abs(self.loss[-1])
        return bool(self.chosen == self.steps.max() and falling)

    def frame(self) -> pd.DataFrame:
        """The curve's points."""
        return pd.DataFrame({"steps": self.steps, "loo_loss": self.loss, "chosen": self.steps == self.chosen})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The curve on a log axis of steps."""
        axes = axes_or_new(ax)
        axes.semilogx(self.steps, self.loss)
        axes.axvline(self.chosen, linestyle="--", color="gray")
        axes.set(xlabel="steps of gradient descent", ylabel="leave-one-out loss")
        return axes


def natural(text: str) -> tuple[float, str]:
    """To sort by: numbers, and what begins with one, by size; then words.

    >>> sorted(["b", "10", "9 – 10", "a"], key=natural)
    ['9 – 10', '10', 'a', 'b']
    """
    number = re.match(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", text)
    return (float(number[0]) if number else math.inf, text)
