"""What every application gives: a sentence, a table, a figure, and the samples worth looking at."""

from __future__ import annotations

import base64
import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from uniqueinfo.applications.printing import as_text
from uniqueinfo.store.plain import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_FIRST_ROWS = 5  # of a table where an answer is printed
_REPORT_ROWS = 50  # of a table, at most
_LARGEST_SVG = 100_000  # bytes; a larger figure becomes a PNG


@dataclass(frozen=True)
class Shown:
    """One sample to look at, and what to say about it."""

    sample: int
    """Its position in the training (or validation) data."""
    caption: str
    split: Literal["train", "validation"] = "train"


@dataclass(frozen=True)
class Gallery:
    """Samples that belong together: a cluster, a pair of duplicates, what pushed a prediction up."""

    title: str
    samples: tuple[Shown, ...]


class Answer(ABC):
    """An answer to one question about the scores."""

    name: ClassVar[str]
    """The question, as the command line names it."""
    title: ClassVar[str]
    """The question, as a heading."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The answer in a sentence or two."""

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """The answer as a table."""

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """The answer as a figure."""

    def __repr__(self) -> str:
        """The sentence, and how the table begins."""
        table = self.frame()
        if not len(table):
            return self.sentence
        more = f"\n… {len(table) - _FIRST_ROWS:,} more rows in .frame()" if len(table) > _FIRST_ROWS else ""
        return f"{self.sentence}\n\n{as_text(table.head(_FIRST_ROWS), get_terminal_size().columns)}{more}"

    def galleries(self) -> Sequence[Gallery]:
        """Samples worth looking at."""
        return ()

    def as_json(self) -> dict[str, Any]:
        """Plain data, ready for json.dumps: all but the figure."""
        return {
            "name": self.name,
            "title": self.title,
            "sentence": self.sentence,
            "table": records(self.frame()),
            "galleries": [asdict(gallery) for gallery in self.galleries()],
        }

    def section(self) -> dict[str, Any]:
        """What the report shows: the beginning of the table, the galleries, and the figure as a data address."""
        found = self.as_json()
        return {**found, "rows": len(found["table"]), "table": found["table"][:_REPORT_ROWS], "figure": self._drawn()}

    def _drawn(self) -> str:
        """The figure as SVG, or, where that would be large (many points), as PNG."""
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        with rc_context({"svg.hashsalt": self.name}):
            figure = Figure(figsize=(7, 3.6), layout="constrained")
            self.plot(figure.subplots())
            drawn = {"svg": io.BytesIO(), "png": io.BytesIO()}
            figure.savefig(drawn["svg"], format="svg", metadata={"Date": None})
            figure.savefig(drawn["png"], format="png", dpi=150)
        kind = "svg" if drawn["svg"].tell() <= _LARGEST_SVG else "png"
        encoded = base64.b64encode(drawn[kind].getvalue()).decode()
        return f"data:image/{'svg+xml' if kind == 'svg' else kind};base64,{encoded}"
