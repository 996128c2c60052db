"""What is believed of every label, for each kind of labels: one class, several labels, or a number for each sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.applications.suspicion.evidence import DECAYS, Neighbours
from uniqueinfo.applications.suspicion.opinions import Seen, scaled
from uniqueinfo.applications.suspicion.stack import Verdict, judge
from uniqueinfo.errors import InputError
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats, Indices

_ROUNDS = 50
_FAR = 3.0  # times as wide as that of right numbers must the spread of wrong ones be
_LOPSIDED = 3.0  # times as far above a count as below it must its interval reach to be told in full
_QUARTILES = 3.0  # distances beyond the upper quartile from which on a sample is unlike all others


@dataclass(frozen=True, eq=False)
class Believed:
    """How probable it is that each label is wrong, and what it should be."""

    wrong: Floats
    predicted: NDArray[Any]
    """The likeliest label, which may be the given one."""
    count: Interval
    """How many are wrong in all, if mistakes fall on easy and hard samples alike; the most, if on the hard ones."""
    contradicted: int
    """How many the models contradict."""
    noise: Floats | None = None
    """Of samples of each class (rows), how many were given which label, where labels are classes."""


def of_classes(X: Floats, given: Indices, names: NDArray[Any], seed: int) -> Believed:
    """One class for each sample, as numbers into `names`."""
    found = _judged(X, given, len(names), seed)
    return Believed(found.wrong, names[found.truth.argmax(axis=1)], counted(found), found.contradicted, found.noise)


def of_several(X: Floats, labels: NDArray[Any], seed: int) -> Believed:
    """A matrix of 0 and 1: each column is judged on its own, and a sample is as wrong as the likeliest wrong entry."""
    present = labels.astype(np.intp)
    seen = Seen.of(X)
    found = Entries.of(present, lambda column: list(seen.opinions(present[:, column], 2).values()), seed)
    rows = np.empty(len(present), dtype=object)
    rows[:] = found.predicted.tolist()
    return Believed(found.most, rows, found.count, found.contradicted)


@dataclass(frozen=True, eq=False)
class Entries:
    """What is believed of every entry of a matrix of 0 and 1, (n, labels)."""

    wrong: Floats
    predicted: NDArray[np.intp]
    count: Interval
    """How many samples have a wrong entry."""

    @classmethod
    def of(cls, present: NDArray[np.intp], opinions: Callable[[int], list[Floats]], seed: int = 0) -> Entries:
        """`opinions` say, for a column, log p of no and yes by each model, (n, 2); columns are judged one by one."""
        mixed = [number for number in range(present.shape[1]) if 0 < present[:, number].sum() < len(present)]
        if not mixed:
            raise InputError("y: every column is all 0 or all 1, so there is nothing to tell apart; give other labels")
        wrong, predicted, redraws, guessed = np.zeros(present.shape), present.copy(), [], 0.0
        for number in mixed:
            column = judge(opinions(number), present[:, number], 2, seed=seed)
            wrong[:, number], predicted[:, number] = column.wrong, column.truth.argmax(axis=1)
            redraws.append(column.counts)
            guessed += column.guessed
        most: Floats = wrong.max(axis=1)
        scale = most.sum() / max(wrong.sum(), np.finfo(float).tiny)  # from entries to samples
        count = Interval.percentile(float(most.sum()), scale * np.sum(redraws, axis=0))
        return cls(wrong, predicted, widened(count, min(scale * guessed, float(len(present)))))

    @property
    def most(self) -> Floats:
        """Of each sample the likeliest wrong entry, (n,)."""
        found: Floats = self.wrong.max(axis=1)
        return found

    @property
    def contradicted(self) -> int:
        """How many samples have an entry that is wrong rather than right."""
        return int((self.wrong > 0.5).any(axis=1).sum())


def of_numbers(X: Floats, numbers: Floats, seed: int) -> Believed:
    """Numbers to predict, (n, columns): errors of prediction come from a narrow spread if right, else from a wide one.

    A sample is as wrong as its likeliest wrong number.
    """
    deviation = X.std(axis=0)
    seen = Seen.of(X / np.where(deviation > 0, deviation, 1))
    best = np.empty_like(numbers)
    for number, column in enumerate(numbers.T):
        away = (column - np.median(column))[:, None]
        tried = [head.left_out(away, decay)[:, 0] for head in seen.heads.values() for decay in DECAYS]
        best[:, number] = min(tried, key=lambda one: float(np.abs(away[:, 0] - one).mean())) + np.median(column)
    wrong = most_outlying(numbers - best)
    rows: NDArray[Any] = best[:, 0]
    if best.shape[1] > 1:
        rows = np.empty(len(best), dtype=object)
        rows[:] = best.tolist()
    return Believed(wrong, rows, counted_numbers(wrong, seed), int((wrong > 0.5).sum()))


def most_outlying(errors: Floats) -> Floats:
    """Of errors (n, columns) the probability that the likeliest wrong one of each sample is, (n,)."""
    found: Floats = np.max([outlying(column) for column in errors.T], axis=0)
    return found


def counted_numbers(wrong: Floats, seed: int = 0) -> Interval:
    """How many numbers are wrong, drawn as often as each is probably."""
    rng = np.random.default_rng(seed)
    redrawn = np.array([(rng.random(len(wrong)) < wrong).sum() for _ in range(200)])
    return Interval.percentile(float(wrong.sum()), redrawn)


def outlying(errors: Floats) -> Floats:
    """The probability that each error comes from the wider of two spreads around zero.

    >>> outlying(np.array([0.1, -0.2, 0.15, -0.1, 0.2, 9.0])).round(1)
    array([0., 0., 0., 0., 0., 1.])
    """
    narrow = float(np.median(np.abs(errors))) / 0.6745 or float(np.abs(errors).mean()) or 1.0
    wide, rate = max(float(np.sqrt(np.square(errors).mean())), _FAR * narrow), 0.05
    far = np.zeros(len(errors))
    for _ in range(_ROUNDS):
        inside = (1 - rate) * np.exp(-np.square(errors / narrow) / 2) / narrow
        outside = rate * np.exp(-np.square(errors / wide) / 2) / wide
        far = outside / np.maximum(inside + outside, np.finfo(float).tiny)
        near = 1 - far
        narrow = max(float(np.sqrt((near * np.square(errors)).sum() / near.sum())), np.finfo(float).tiny)
        wide = max(float(np.sqrt((far * np.square(errors)).sum() / max(far.sum(), 1e-9))), _FAR * narrow)
        rate = float(np.clip(far.mean(), 1e-4, 0.5))
    return far


def first_suspects(wrong: Floats, precision: float | None) -> NDArray[np.bool_]:
    """Labels that are wrong rather than right; with a precision, the most of which so many are expected to be wrong.

    >>> first_suspects(np.array([0.9, 0.6, 0.3, 0.0]), None), first_suspects(np.array([0.9, 0.6, 0.3, 0.0]), 0.6)
    (array([ True,  True, False, False]), array([ True,  True,  True, False]))
    """
    if precision is None:
        return wrong > 0.5
    order = np.argsort(-wrong, kind="stable")
    enough = np.flatnonzero(np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1) >= precision)
    named = np.zeros(len(wrong), dtype=bool)
    named[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return named


def counted(found: Verdict) -> Interval:
    """How many labels are wrong: the least by redraws, the most if each was guessed from what the models say."""
    return widened(Interval.percentile(float(found.wrong.sum()), found.counts), found.guessed)


def widened(count: Interval, guessed: float) -> Interval:
    """Up to what would be wrong if labels had been guessed.

    >>> widened(Interval(36.0, 28.0, 44.0), 90.5)
    Interval(value=36.0, low=28.0, high=90.5)
    """
    return replace(count, high=max(count.high, guessed))


def about(count: Interval) -> str:
    """How many labels are wrong, for people.

    >>> about(Interval(36.2, 28.0, 90.0))
    'About 36 labels are wrong (28 at least; up to 90 if mistakes fall on the hard samples).'
    >>> about(Interval(36.2, 28.0, 44.0))
    'About 36 ± 8 labels are wrong.'
    """
    above, below = count.high - count.value, count.value - count.low
    if above > _LOPSIDED * max(below, 1):
        more = f"({count.low:,.0f} at least; up to {count.high:,.0f} if mistakes fall on the hard samples)"
        return f"About {count.value:,.0f} labels are wrong {more}."
    return f"About {count.value:,.0f} ± {max(above, below):,.0f} labels are wrong."


def unlike_others(neighbours: Neighbours) -> tuple[NDArray[np.bool_], Floats]:
    """Samples far from all others, which may be of no class at all, and a score (n,), low for these."""
    distance = np.sqrt(neighbours.squares.mean(axis=1))
    low, middle, high = np.quantile(distance, (0.25, 0.5, 0.75))
    score: Floats = np.exp(-distance / (middle or 1.0))
    return distance > high + _QUARTILES * max(high - low, 1e-9 * high), score


def conflicting(neighbours: Neighbours, labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Samples of which there is a copy, equal in all features, with another label."""
    others = labels[neighbours.numbers] != labels[:, None]
    others = others.any(axis=tuple(range(2, others.ndim))) if others.ndim > 2 else others
    copies = neighbours.squares <= 1e-12 * max(float(np.median(neighbours.squares)), np.finfo(float).tiny)
    found: NDArray[np.bool_] = (copies & others).any(axis=1)
    return found


def _judged(X: Floats, given: Indices, classes: int, seed: int) -> Verdict:
    seen = Seen.of(scaled(X, given, classes))
    return judge(list(seen.opinions(given, classes).values()), given, classes, seed=seed)
