"""Scores → what the report shows, as pure data; each part is computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from uniqueinfo.applications.copies import Copies, told_copies
from uniqueinfo.applications.health import health
from uniqueinfo.applications.mislabeled import Mislabeled, mislabeled
from uniqueinfo.pages import words
from uniqueinfo.pages.choosing import bounded, inwards
from uniqueinfo.pages.figures import Comparison, Concentration, Distribution, Stopping
from uniqueinfo.pages.groups import compared
from uniqueinfo.pages.views import SampleViews, Small, collect
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.scores.several import NAMES, NumberPredictions, Said, label_names, said_of
from uniqueinfo.scores.table import Scores
from uniqueinfo.store.plain import records
from uniqueinfo.training.algorithm import training_words
from uniqueinfo.types import Floats, Indices

_CARDS = 16
"""Samples shown as cards from either end."""
_SUSPECTS = 32
"""Suspects shown as cards."""
_MOST_SUSPECTS = 1000
"""Suspects in the table."""
_CLASSES = 10
"""Classes with a colour of their own; the others share one."""
_PICTURES = 4_000_000
"""Bytes of pictures in the page."""
_TEXTS = 400_000
"""Bytes of texts and table rows in the page."""

Effects = dict[int, list[tuple[int, int, float]]]
"""By training sample: validation sample, output, change; strongest first."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Everything the report shows. Samples are named by their positions in the training data; those held out follow."""

    scores: Scores
    sample_views: SampleViews | None = None
    """How to show the samples."""
    answers: Sequence[Mapping[str, Any]] = ()
    """What was asked of the run besides: sections with a sentence, a table, a figure and galleries."""
    copies: Copies | None = None
    """Samples that are there twice, where that is not written in the run."""

    @cached_property
    def answer(self) -> str:
        """The whole report in a sentence."""
        return words.answer(self.samples, self.concentration, self.suspects)

    @cached_property
    def health(self) -> list[str]:
        """Whether the scores can be gone by, in two lines."""
        return health(self.scores, self._copies, self.answers)

    @property
    def leaking(self) -> bool:
        """Whether training samples are in the validation data too, which is to be seen."""
        return self._copies is not None and bool(self._copies.leaks)

    @property
    def _copies(self) -> Copies | None:
        return self.copies or told_copies(self.scores)

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.scores)

    @property
    def measure(self) -> str:
        """Which information the figures are of: "functional", or "weight" where there was no validation data."""
        return "weight" if self.scores.functional is None else "functional"

    @property
    def information(self) -> Floats:
        """Information of every sample."""
        return self.scores.weight if self.scores.functional is None else self.scores.functional

    @property
    def mean(self) -> float:
        """The average information."""
        return float(np.nanmean(self.information))

    @cached_property
    def predictions(self) -> Predictions | None:
        """What the network trained without each sample says about it; None where labels are no classes."""
        return Predictions.of(self.scores)

    @cached_property
    def _said(self) -> Said | None:
        """The same whatever labels are."""
        return said_of(self.scores)

    @property
    def accuracy(self) -> float | None:
        """How often the network trained without a sample agrees with its label."""
        known = self.predictions
        return None if known is None else float((known.predicted == known.given).mean())

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Their names."""
        return None if self.predictions is None else self.predictions.names

    @property
    def outputs(self) -> tuple[str, ...]:
        """What each output of the network stands for."""
        return _output_names(self.scores, self.predictions)

    @cached_property
    def distribution(self) -> Distribution:
        """How many samples have how much information."""
        return _distribution(self.information, self.predictions)

    @cached_property
    def concentration(self) -> Concentration:
        """How much of the information few samples carry."""
        return Concentration.of(self.information[np.isfinite(self.information)])

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Classes, and groups by the user's columns, side by side."""
        return tuple(compared(self.scores, self._said, self.information, self._all_suspected))

    @cached_property
    def stopping(self) -> Stopping | None:
        """How the training time was chosen, where it was."""
        return _stopping(self.scores)

    @cached_property
    def suspects(self) -> Mislabeled | None:
        """Labels that look wrong; None where outputs say nothing of labels."""
        return None if self._said is None else mislabeled(self.scores)

    @property
    def suspects_answer(self) -> Mapping[str, Any] | None:
        """What was asked about wrong labels, if it was: it stands in the place of the page's own suspects."""
        return next((answer for answer in self.answers if answer["name"] == Mislabeled.name), None)

    @property
    def other_answers(self) -> list[Mapping[str, Any]]:
        """All answers but that."""
        return [answer for answer in self.answers if answer is not self.suspects_answer]

    @property
    def suspected(self) -> Indices:
        """The suspects shown as cards; those of an answer are in its galleries."""
        return self._all_suspected[: 0 if self.suspects_answer else _SUSPECTS]

    @property
    def most(self) -> Indices:
        """The most informative samples, shown as cards."""
        return self._order[:_CARDS]

    @property
    def least(self) -> Indices:
        """The least informative samples, shown as cards."""
        known = self._order[: int(np.isfinite(self.information).sum())]  # what was not measured comes last
        return known[::-1][: min(_CARDS, max(0, len(known) - _CARDS))]

    @cached_property
    def table(self) -> pd.DataFrame:
        """The samples in the page, the most informative first; the index is the position."""
        return _table(self.scores, self._said, self._all_suspected).iloc[self._rows]

    @cached_property
    def effects(self) -> Effects:
        """What the samples in the table change."""
        return _effects(self.scores, self._rows)

    @cached_property
    def views(self) -> dict[int, Small]:
        """How training samples look, as many as fit into the page."""
        shown = self.sample_views
        return {} if shown is None else collect(shown.train, self._shown_first, _PICTURES, _TEXTS)

    @cached_property
    def validation_views(self) -> dict[int, Small]:
        """How validation samples look: those in galleries, then those that the samples shown change most."""
        if self.sample_views is None or self.sample_views.validation is None:
            return {}
        felt = (effect[0] for sample in self._shown_first for effect in self.effects.get(int(sample), ()))
        wanted = dict.fromkeys([*_in_galleries(self.answers, "validation"), *map(int, felt)])
        return collect(self.sample_views.validation, wanted, _PICTURES // 2, _TEXTS // 2)

    @property
    def training(self) -> str:
        """The training algorithm in words."""
        return training_words(self.settings)

    @property
    def settings(self) -> dict[str, Any]:
        """How the scores were made."""
        return dict(self.scores.settings)

    @cached_property
    def caveats(self) -> list[str]:
        """How far to trust the numbers."""
        validation = _validation(self.answers)
        return words.caveats(
            self.settings,
            self.measure,
            stopping=self.stopping,
            suspects=self.suspects,
            validation=validation,
            accuracy=self.accuracy,
        )

    @cached_property
    def _order(self) -> Indices:
        return np.argsort(-self.information, kind="stable")

    @cached_property
    def _all_suspected(self) -> Indices:
        return np.empty(0, np.intp) if self.suspects is None else self.suspects.samples[: self.suspects.count]

    @cached_property
    def _rows(self) -> Indices:
        return bounded(self._order, self._all_suspected[:_MOST_SUSPECTS])

    @cached_property
    def _shown_first(self) -> list[int]:
        """Samples in the order in which they are shown while there is room."""
        galleries = _in_galleries(self.answers, "train")
        return list(chain(self.suspected, self.most, self.least, galleries, inwards(self._rows)))

    def as_json(self) -> dict[str, Any]:
        """Plain data, ready for json.dumps; no pictures, and of the samples only those the report puts forward."""
        return {
            "answer": self.answer,
            "health": self.health,
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


def summarize(
    scores: Scores,
    samples: SampleViews | None = None,
    answers: Sequence[Mapping[str, Any]] = (),
    copies: Copies | None = None,
) -> Summary:
    """What stands out in the scores; `samples` shows what the samples look like, `answers` go in as they are.

    >>> from uniqueinfo.scores.table import HeldScores
    >>> scores = HeldScores(weight=np.array([3.0, 1.0]), loo_outputs=np.zeros((2, 1)),
    ...                 outputs=np.zeros((2, 1)), targets=np.ones((2, 1)), labels=np.array([0.5, 1.5]))
    >>> summarize(scores).as_json()["most_informative"][0]["id"]
    0
    """
    found = Summary(everyone(scores), samples, answers, copies)
    _ = found.views, found.validation_views  # what cannot be shown is refused here, not while the page is written
    return found


def _table(scores: Scores, said: Said | None, suspected: Indices) -> pd.DataFrame:
    frame = scores.frame()
    own = [] if scores.columns is None else [str(name) for name in scores.columns.columns]
    frame.columns = pd.Index([str(name) for name in frame.columns])
    found = frame.drop(columns=own)
    if said is not None:
        found["label"], found["prediction"] = said.given_words, said.predicted_words
        if isinstance(said, Predictions):
            found["confidence"] = said.confidence
        if not isinstance(said, NumberPredictions):
            found["margin"] = said.margin.reshape(len(scores), -1).min(axis=1)
        found["suspect"] = np.isin(np.arange(len(scores)), suspected)
    return pd.concat([found, frame[own].add_prefix("column:")], axis=1)


def _output_names(scores: Scores, predictions: Predictions | None) -> tuple[str, ...]:
    count = scores.outputs.shape[1]
    if predictions is None:
        named = label_names(scores.settings, count)
        return tuple(f"output {name}" for name in named) if scores.settings.get(NAMES) is None else named
    return predictions.names[-count:]  # one output for two classes is that of the second


def _distribution(information: Floats, predictions: Predictions | None) -> Distribution:
    known = np.isfinite(information)
    if predictions is None:
        return Distribution.of(information[known], np.zeros(known.sum(), np.intp), ("all",))
    information, given = information[known], predictions.given[known]
    sizes = np.bincount(given, minlength=len(predictions.names))
    if len(sizes) <= _CLASSES:
        return Distribution.of(information, given, predictions.names)
    largest = np.sort(np.argsort(-sizes, kind="stable")[: _CLASSES - 1])
    number = np.full(len(sizes), len(largest))
    number[largest] = np.arange(len(largest))
    return Distribution.of(information, number[given], (*(predictions.names[at] for at in largest), "others"))


def _stopping(scores: Scores) -> Stopping | None:
    curve = scores.settings.get("stopping")
    if not curve:
        return None
    steps, loss = np.asarray(curve["steps"]), np.asarray(curve["loo_loss"])
    good = loss <= (1 + curve.get("near", 0.0)) * loss.min()
    return Stopping(steps, loss, steps[good.argmax()].item())


def _effects(scores: Scores, kept: Indices) -> Effects:
    if scores.effects is None:
        return {}
    columns = (scores.effects.validation, scores.effects.output, scores.effects.change)
    felt = kept[kept < len(columns[0])]  # effects are those of samples that were trained on
    return {int(i): list(zip(*(column[i].tolist() for column in columns), strict=True)) for i in felt}


def _validation(answers: Sequence[Mapping[str, Any]]) -> str | None:
    """What training again said of the scores, if it was asked."""
    return next((answer["sentence"] for answer in answers if answer["name"] == "validate"), None)


def _in_galleries(answers: Sequence[Mapping[str, Any]], split: str) -> list[int]:
    """Samples that the answers show."""
    shown = (one for answer in answers for gallery in answer["galleries"] for one in gallery["samples"])
    return [one["sample"] for one in shown if one["split"] == split]
