"""Scores → what the report shows, as pure data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.mislabeled import Mislabeled, mislabeled
from uniqueinfo.report import words
from uniqueinfo.report.figures import Comparison, Concentration, Distribution, Stopping
from uniqueinfo.report.views import SampleViews, Small, collect
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.scores.table import Scores
from uniqueinfo.store.plain import records
from uniqueinfo.types import Indices

MOST_ROWS = 2000  # of the most and of the least informative samples in the page's table
_CARDS = 16
_SUSPECTS = 32
_MOST_SUSPECTS = 1000  # in the table
_CLASSES = 10  # told apart by colour; the others share one
_COLUMNS = 8
_PICTURES = 4_000_000
_TEXTS = 400_000


@dataclass(frozen=True, eq=False)
class Summary:
    """Everything the report shows. Samples are named by their positions in the training data."""

    answer: str
    samples: int
    measure: str
    """Which information the figures are of: "functional", or "weight" where there was no validation data."""
    mean: float
    """The average of it."""
    accuracy: float | None
    """How often the network trained without a sample agrees with its label."""
    classes: tuple[str, ...] | None
    outputs: tuple[str, ...]
    """What each output of the network stands for."""
    distribution: Distribution
    concentration: Concentration
    comparisons: tuple[Comparison, ...]
    stopping: Stopping | None
    suspects: Mislabeled | None
    most: Indices
    least: Indices
    suspected: Indices
    table: pd.DataFrame
    """The samples in the page, the most informative first; the index is the position."""
    effects: dict[int, list[tuple[int, int, float]]]
    """Of the samples in the table: validation sample, output, change; strongest first."""
    answers: Sequence[Mapping[str, Any]]
    """What was asked of the run besides: sections with a sentence, a table, a figure and galleries."""
    views: dict[int, Small]
    validation_views: dict[int, Small]
    training: str
    settings: dict[str, Any]
    caveats: list[str]

    def as_json(self) -> dict[str, Any]:
        """Plain data, ready for json.dumps; no pictures, and of the samples only those the report puts forward."""
        return {
            "answer": self.answer,
            "samples": self.samples,
            "measure": self.measure,
            "mean": self.mean,
            "leave_one_out_accuracy": self.accuracy,
            "classes": None if self.classes is None else list(self.classes),
            "most_informative": records(self.table.loc[self.most]),
            "least_informative": records(self.table.loc[self.least]),
            "suspects": None if self.suspects is None else records(self.suspects.frame()),
            "noise_rate": None if self.suspects is None else self.suspects.noise_rate,
            "distribution": records(self.distribution.frame()),
            "concentration": records(self.concentration.frame()),
            "comparisons": {found.column: records(found.frame().reset_index()) for found in self.comparisons},
            "stopping": None if self.stopping is None else records(self.stopping.frame()),
            "training": self.training,
            "settings": self.settings,
            "caveats": self.caveats,
            "answers": [{k: v for k, v in answer.items() if k != "figure"} for answer in self.answers],
        }


def summarize(scores: Scores, samples: SampleViews | None = None, answers: Sequence[Mapping[str, Any]] = ()) -> Summary:
    """What stands out in the scores; `samples` shows what the samples look like, `answers` go in as they are.

    >>> scores = Scores(weight=np.array([3.0, 1.0]), functional=None, value=None, loo_outputs=np.zeros((2, 1)),
    ...                 outputs=np.zeros((2, 1)), targets=np.ones((2, 1)), labels=np.array([0.5, 1.5]))
    >>> summarize(scores).as_json()["most_informative"][0]["id"]
    0
    """
    measure = "weight" if scores.functional is None else "functional"
    information = scores.weight if scores.functional is None else scores.functional
    predictions = Predictions.of(scores)
    suspects = None if predictions is None else mislabeled(scores)
    suspected = np.empty(0, np.intp) if suspects is None else suspects.samples[: suspects.count]
    order = np.argsort(-information, kind="stable")
    most, least = order[:_CARDS], order[::-1][: min(_CARDS, max(0, len(order) - _CARDS))]
    kept = _bounded(order, suspected[:_MOST_SUSPECTS])
    table = _table(scores, predictions, suspected).iloc[kept]
    shown_first = list(chain(suspected[:_SUSPECTS], most, least, _in_galleries(answers, "train")))
    effects = _effects(scores, kept)
    stopping, settings = _stopping(scores), dict(scores.settings)
    concentration = Concentration.of(information)
    accuracy = None if predictions is None else float((predictions.predicted == predictions.given).mean())
    return Summary(
        answer=words.answer(len(scores), concentration, suspects),
        samples=len(scores),
        measure=measure,
        mean=float(information.mean()),
        accuracy=accuracy,
        classes=None if predictions is None else predictions.names,
        outputs=_output_names(scores, predictions),
        distribution=_distribution(information, predictions),
        concentration=concentration,
        comparisons=tuple(_comparisons(scores, predictions, information, suspected)),
        stopping=stopping,
        suspects=suspects,
        most=most,
        least=least,
        suspected=suspected[:_SUSPECTS],
        table=table,
        effects=effects,
        answers=answers,
        views={} if samples is None else collect(samples.train, [*shown_first, *_inwards(kept)], _PICTURES, _TEXTS),
        validation_views=_validation_views(
            samples, _in_galleries(answers, "validation"), effects, [*shown_first, *_inwards(kept)]
        ),
        training=words.training(settings),
        settings=settings,
        caveats=words.caveats(settings, measure, stopping, suspects, _validation(answers), accuracy),
    )


def _bounded(order: Indices, suspected: Indices) -> Indices:
    """At most the first and last MOST_ROWS, and the suspects, in order."""
    if len(order) <= 2 * MOST_ROWS:
        return order
    ends = np.concatenate([order[:MOST_ROWS], order[-MOST_ROWS:]])
    return order[np.isin(order, np.concatenate([ends, suspected]))]


def _inwards(kept: Indices) -> Iterator[int]:
    """From both ends in turn: what the budgets cut off is the middle."""
    half = (len(kept) + 1) // 2
    pairs = zip_longest(kept[:half].tolist(), kept[half:][::-1].tolist())
    return (sample for sample in chain.from_iterable(pairs) if sample is not None)


def _table(scores: Scores, predictions: Predictions | None, suspected: Indices) -> pd.DataFrame:
    frame = scores.frame()
    own = [] if scores.columns is None else [str(name) for name in scores.columns.columns]
    frame.columns = pd.Index([str(name) for name in frame.columns])
    found = frame.drop(columns=own)
    if predictions is not None:
        names = np.array(predictions.names, dtype=object)
        found["label"], found["prediction"] = names[predictions.given], names[predictions.predicted]
        found["confidence"], found["margin"] = predictions.confidence, predictions.margin
        found["suspect"] = np.isin(np.arange(len(scores)), suspected)
    return pd.concat([found, frame[own].add_prefix("column:")], axis=1)


def _output_names(scores: Scores, predictions: Predictions | None) -> tuple[str, ...]:
    count = scores.outputs.shape[1]
    if predictions is None:
        return tuple(f"output {number}" for number in range(count))
    return predictions.names[-count:]  # one output for two classes is that of the second


def _distribution(information: NDArray[np.float64], predictions: Predictions | None) -> Distribution:
    if predictions is None:
        return Distribution.of(information, np.zeros(len(information), np.intp), ("all",))
    sizes = np.bincount(predictions.given, minlength=len(predictions.names))
    if len(sizes) <= _CLASSES:
        return Distribution.of(information, predictions.given, predictions.names)
    largest = np.sort(np.argsort(-sizes, kind="stable")[: _CLASSES - 1])
    number = np.full(len(sizes), len(largest))
    number[largest] = np.arange(len(largest))
    return Distribution.of(
        information, number[predictions.given], (*(predictions.names[at] for at in largest), "others")
    )


def _comparisons(
    scores: Scores, predictions: Predictions | None, information: NDArray[np.float64], suspected: Indices
) -> Iterator[Comparison]:
    measures: dict[str, Any] = {"information": information}
    if scores.value is not None:
        measures["value"] = scores.value
    if predictions is not None:
        measures["suspect"] = np.isin(np.arange(len(scores)), suspected)
        yield Comparison.of("label", pd.Series(np.array(predictions.names, dtype=object)[predictions.given]), measures)
    if scores.columns is None:
        return
    for name in scores.columns.columns[:_COLUMNS]:
        groups = _grouped(scores.columns[name])
        if groups.nunique() > 1:
            yield Comparison.of(str(name), groups, measures)


def _grouped(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column's values as names of groups: numbers of many values by quarters; one group where all values differ."""
    distinct = column.nunique()
    if pd.api.types.is_numeric_dtype(column) and distinct > 12:
        quarters = pd.qcut(column, 4, duplicates="drop", precision=3)
        return pd.Series(quarters.cat.rename_categories(_range_name)).astype(object).fillna("missing")
    if distinct > len(column) / 2 and distinct > 12:
        return pd.Series("all", index=column.index)
    return column.astype(object).where(column.notna(), "missing").map(str)


def _range_name(interval: pd.Interval[float]) -> str:
    return f"{interval.left:.3g} – {interval.right:.3g}"


def _stopping(scores: Scores) -> Stopping | None:
    curve = scores.settings.get("stopping")
    if not curve:
        return None
    steps, loss = np.asarray(curve["steps"], np.intp), np.asarray(curve["loo_loss"])
    return Stopping(steps, loss, int(steps[loss.argmin()]))


def _effects(scores: Scores, kept: Indices) -> dict[int, list[tuple[int, int, float]]]:
    if scores.effects is None:
        return {}
    columns = (scores.effects.validation, scores.effects.output, scores.effects.change)
    return {int(i): list(zip(*(column[i].tolist() for column in columns), strict=True)) for i in kept}


def _validation(answers: Sequence[Mapping[str, Any]]) -> str | None:
    """What training again said of the scores, if it was asked."""
    return next((answer["sentence"] for answer in answers if answer["name"] == "validate"), None)


def _in_galleries(answers: Sequence[Mapping[str, Any]], split: str) -> list[int]:
    """Samples that the answers show."""
    shown = (one for answer in answers for gallery in answer["galleries"] for one in gallery["samples"])
    return [one["sample"] for one in shown if one["split"] == split]


def _validation_views(
    samples: SampleViews | None,
    in_galleries: list[int],
    effects: dict[int, list[tuple[int, int, float]]],
    first: list[int],
) -> dict[int, Small]:
    if samples is None or samples.validation is None:
        return {}
    felt = dict.fromkeys(int(effect[0]) for sample in first for effect in effects.get(int(sample), ()))
    felt = dict.fromkeys(in_galleries) | felt
    return collect(samples.validation, felt, _PICTURES // 2, _TEXTS // 2)
