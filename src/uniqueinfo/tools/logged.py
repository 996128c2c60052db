"""What goes into the log of an experiment: numbers, facts, figures, the table and the page of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from uniqueinfo._version import __version__
from uniqueinfo.applications.answer import Answer
from uniqueinfo.pages import summarize
from uniqueinfo.runs.page import Looks, report
from uniqueinfo.scores.several import said_of
from uniqueinfo.scores.table import Scores
from uniqueinfo.training.algorithm import training_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE, PAGE = "scores.parquet", "report.html"


@dataclass(frozen=True, eq=False)
class Logged:
    """By name, what is to be logged; made by `gathered`."""

    numbers: Mapping[str, float]
    facts: Mapping[str, str]
    figures: Mapping[str, Figure]
    table: Path
    """All scores, as Parquet."""
    page: Path


@contextmanager
def gathered(scores: Scores, answers: Iterable[Answer], samples: Looks) -> Iterator[Logged]:
    """The files are there while the context is."""
    given, summary = list(answers), summarize(scores)
    with TemporaryDirectory() as folder:
        page = report(scores, Path(folder) / PAGE, samples=samples, answers=given)  # refuses what is no answer
        table = Path(folder) / TABLE
        scores.write(table)
        drawn = {"distribution": summary.distribution.plot, "concentration": summary.concentration.plot}
        yield Logged(
            numbers=_numbers(scores, summary.mean, summary.concentration.carried_by(0.1), summary.suspects),
            facts={
                "version": __version__,
                "training": training_words(scores.settings),
                "measure": summary.measure,
                **{f"taken_as/{name}": told for name, told in scores.taken_as.items()},
            },
            figures={name: _figure(plot) for name, plot in (drawn | {one.name: one.plot for one in given}).items()},
            table=table,
            page=page,
        )


def _numbers(scores: Scores, mean: float, tenth: float, suspects: Any) -> dict[str, float]:
    said = said_of(scores)
    found = {"samples": float(len(scores)), "mean_information": mean, "share_of_most_informative_tenth": tenth}
    if said is not None:
        found["leave_one_out_accuracy"] = said.health.accuracy
    if suspects is not None:
        found |= {"wrong_labels_expected": float(suspects.expected.value), "wrong_labels_named": float(suspects.count)}
    return found


def _figure(plot: Callable[[Any], Any]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    plot(figure.subplots())
    return figure
