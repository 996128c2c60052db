"""What answers about trust share: scores of a few samples beside the same from really training again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.answer import Answer
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.store.plain import plain
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trust(Answer):
    """Scores of a few samples beside what training without them really does."""

    name = "validate"
    title = "How far to trust the scores?"

    samples: NDArray[np.intp]
    """Positions of the samples that were left out in the training data."""
    predicted: Mapping[str, Floats]
    """Their scores, by measure: functional and, where known, weight and value."""
    retrained: Mapping[str, Floats]
    """The same measures from really training again."""
    spearman: Mapping[str, Interval]
    """Of the two, by measure."""
    ids: NDArray[Any] | None = None
    """Names of all training samples, where they have any."""

    def frame(self) -> pd.DataFrame:
        """One row per sample that was left out: its id, each score, and the same after training again."""
        table: dict[str, Any] = {"id": self.samples if self.ids is None else self.ids[self.samples]}
        for name, scores in self.predicted.items():
            table |= {name: scores, f"{name}_retrained": self.retrained[name]}
        return pd.DataFrame(table, index=self.samples)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Functional information: predicted against retrained, both logarithmic, with the line where they are equal."""
        axes = axes_or_new(ax)
        truth, scores = self.retrained["functional"], self.predicted["functional"]
        ends = [min(truth.min(), scores.min()), max(truth.max(), scores.max())]
        axes.plot(ends, ends, color="0.7", linewidth=1, zorder=0)
        axes.scatter(truth, scores, s=28)
        axes.set(xscale="log", yscale="log", xlabel="retrained", ylabel="predicted", title="functional information")
        return axes

    def as_json(self) -> dict[str, Any]:
        """Plain values: what a file or a report keeps."""
        return {
            **super().as_json(),
            "samples": self.samples.tolist(),
            "predicted": {name: plain(values) for name, values in self.predicted.items()},
            "retrained": {name: plain(values) for name, values in self.retrained.items()},
            "spearman": {name: asdict(found) for name, found in self.spearman.items()},
        }
