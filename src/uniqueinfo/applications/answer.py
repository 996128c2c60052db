"""What every application gives: a sentence, a table, a figure, and the samples worth looking at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from uniqueinfo.applications.drawing import as_address
from uniqueinfo.applications.printing import as_text
from uniqueinfo.scores.display import shown
from uniqueinfo.store.plain import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_FIRST_ROWS = 5  # of a table where an answer is printed
_REPORT_ROWS = 50  # of a table, at most


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

    def _repr_html_(self) -> str:
        return shown(self.sentence, self.frame(), self._drawn())

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
        """The figure as a data address."""
        return as_address(self.plot, salt=self.name)
