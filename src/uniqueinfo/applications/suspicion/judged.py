"""What scores say of every label, whichever the task: classes, several labels of each sample, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.suspicion.opinions import Seen
from uniqueinfo.applications.suspicion.stack import calibrated, judge
from uniqueinfo.applications.suspicion.tasks import Entries, counted, counted_numbers, most_outlying
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.points import Points
from uniqueinfo.scores.predictions import LOGITS, Health, Predictions, loss_of, one_per_class
from uniqueinfo.scores.several import LabelPredictions, NumberPredictions, present_words, said_of
from uniqueinfo.scores.table import Scores
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

_MOST_NUMBERS = 2e8  # of points that are compared
_TWICE = 2.0  # as likely as the given label must a suggestion be that is taken without looking


@dataclass(frozen=True, eq=False)
class Judged:
    """Every label, in the order of the scores."""

    given: NDArray[Any]
    """As people read it, (n,)."""
    suggested: NDArray[Any]
    wrong: Floats
    """The probability that the label is."""
    confidence: Floats
    """The probability of the suggestion."""
    margin: Floats
    """By how much the network speaks for the label: below zero it contradicts it."""
    relabel: NDArray[np.bool_]
    """Whether the suggestion is likely enough to take."""
    health: Health
    expected: Interval
    contradicted: int
    entries: pd.DataFrame | None = None
    """Of several labels each on its own: sample, label, given, suggested, wrong."""
    mended: pd.DataFrame | None = None
    """Of several labels, what they become where the suggestion is taken: a column for each label."""


def judged(scores: Scores, points: Floats | None) -> Judged:
    """`points`: the samples as the network's kernel sees them, where samples that are alike are asked too."""
    found = said_of(scores)
    seen = None if points is None else Seen.of(points)
    if isinstance(found, Predictions):
        return _of_classes(scores, found, seen)
    if isinstance(found, LabelPredictions):
        return _of_several(scores, found, seen)
    if isinstance(found, NumberPredictions):
        return _of_numbers(found)
    raise InputError(
        "wrong labels are looked for where outputs say labels; these scores have none, or are of mixed outputs or of "
        "outputs by a function"
    )


def _of_classes(scores: Scores, found: Predictions, seen: Seen | None) -> Judged:
    outputs = one_per_class(scores.loo_outputs, logits=found.logits)
    opinions = [calibrated(outputs, found.given).logs]
    if seen is not None:
        opinions += list(seen.opinions(found.given, len(found.names)).values())
    verdict = judge(opinions, found.given, len(found.names))
    return of_classes(found, verdict.wrong, counted(verdict), verdict.contradicted)


def of_classes(found: Predictions, wrong: Floats, expected: Interval, contradicted: int) -> Judged:
    """Where it is known how probably each label is wrong."""
    names = np.array(found.names, dtype=object)
    second = np.argsort(-found.probability, axis=1, kind="stable")
    suggested = np.where(second[:, 0] == found.given, second[:, 1], second[:, 0])
    confidence, own = (
        np.take_along_axis(found.probability, which[:, None], axis=1)[:, 0] for which in (suggested, found.given)
    )
    return Judged(
        names[found.given],
        names[suggested],
        wrong,
        confidence,
        margin=found.margin,
        relabel=confidence >= _TWICE * own,
        health=found.health,
        expected=expected,
        contradicted=contradicted,
    )


def _of_several(scores: Scores, found: LabelPredictions, seen: Seen | None) -> Judged:
    """Each label is judged on its own; a sample is as wrong as its likeliest wrong label, which is suggested to change.

    Others of its labels that are wrong rather than right change with it.
    """
    logits = loss_of(scores.settings) in LOGITS

    def opinions(column: int) -> list[Floats]:
        given = found.given[:, column]
        own = calibrated(one_per_class(scores.loo_outputs[:, [column]], logits=logits), given).logs
        return [own] if seen is None else [own, *seen.opinions(given, 2).values()]

    believed = Entries.of(found.given, opinions)
    worst = believed.wrong.argmax(axis=1)[:, None]
    changed = believed.wrong > 0.5
    np.put_along_axis(changed, worst, True, axis=1)
    suggested = np.where(changed, 1 - found.given, found.given)
    against = np.where(found.given == 1, 1 - found.probability, found.probability)
    confidence, margin = (np.take_along_axis(each, worst, axis=1)[:, 0] for each in (against, found.margin))
    sample, label = (part.ravel() for part in np.indices(found.given.shape))
    return Judged(
        found.given_words,
        present_words(suggested, found.names),
        believed.most,
        confidence,
        margin=margin,
        relabel=confidence >= _TWICE * (1 - confidence),
        health=found.health,
        expected=believed.count,
        contradicted=believed.contradicted,
        entries=pd.DataFrame(
            {
                "sample": sample,
                "id": scores.names[sample],
                "label": np.array(found.names, dtype=object)[label],
                "given": found.given.ravel(),
                "suggested": 1 - found.given.ravel(),
                "wrong": believed.wrong.ravel(),
                "confidence": against.ravel(),
                "margin": found.margin.ravel(),
            }
        ),
        mended=pd.DataFrame(suggested, columns=list(found.names)),
    )


def _of_numbers(found: NumberPredictions) -> Judged:
    """Errors that are too wide for those of right numbers; what one should be is not known well enough to take."""
    errors = found.given - found.predicted
    wrong, spread = most_outlying(errors), np.median(np.abs(errors), axis=0)
    far = np.abs(errors) / np.where(spread > 0, spread, 1)
    return Judged(
        found.given_words,
        found.predicted_words,
        wrong,
        confidence=wrong,
        margin=1 - far.max(axis=1),
        relabel=np.zeros(len(wrong), dtype=bool),
        health=found.health,
        expected=counted_numbers(wrong),
        contradicted=int((wrong > 0.5).sum()),
    )


def kernel_points(scores: Scores, count: int) -> Floats:
    """All samples as points whose inner products are the network's kernel; those held out are validation samples."""
    origin = scores.origin
    sets = [Points.of_training(origin)]
    if scores.held_out is not None:
        if origin.probe is None or origin.probe.samples != len(scores.held_out):
            raise InputError("neighbours: samples held out are not at hand; ask without neighbours")
        sets.append(Points.of_probe(origin.probe))
    if count * sets[0].width > _MOST_NUMBERS:
        raise InputError(
            f"neighbours: {count:,} samples in {sets[0].width:,} dimensions are too many to compare; ask without "
            "neighbours, or score with a projection"
        )
    found: Floats = np.concatenate([one.read(part).cpu().numpy() for one in sets for part in one.parts()])
    return found if count >= sets[0].width else as_few(found)


def as_few(points: Floats) -> Floats:
    """Points (n, width) of the same inner products in n dimensions: what compares them takes n in place of width.

    >>> as_few(np.array([[3.0, 4.0, 0.0]])).round(6)
    array([[5.]])
    """
    values, vectors = np.linalg.eigh(points @ points.T)
    found: Floats = vectors * np.sqrt(np.maximum(values, 0))
    return found
