"""Weigh what several models say, and find how often labels are wrong, in one likelihood of the given labels.

With opinions S_m(x) (n, k) of models that have not seen the sample, the true class and the given label ỹ are taken to
follow

    p(y | x) = softmax(Σ_m β_m S_m(x) + b),   p(ỹ | x) = Σ_y p(y | x) T[y, ỹ],

and β ≥ 0, b and T are those under which the given labels are likeliest. Nothing else is known of the truth. Then

    p(label wrong | x, ỹ) = 1 − p(ỹ | x) T[ỹ, ỹ] / p(ỹ given | x).

T has one rate for all classes, or a rate for each pair that is held to this one, more or less: as much as predicts the
given labels of samples that were left out best, and the simplest of those that do so within one standard error. What T
cannot tell from samples that are hard by nature is taken for these: labels are taken to be as often wrong where a class
is easy to see as where it is not. People err more often on hard samples. If each label had been guessed from no more
than the models see, Σ (1 − p(ỹ | x)) would be wrong: so many there may be at most.

Labels are suspected in the order of Σ_{y≠ỹ} p(y) · max_{y≠ỹ} p(y) / p(ỹ)², by p(y | x, ỹ): one class that speaks
against a label counts for more than several that share as much. The probabilities above are handed out in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from uniqueinfo.types import Floats, Indices

HOLDS = (np.inf, 30.0, 5.0, 1.0)
"""How strongly rates of pairs are held to one rate; the first is one rate for all."""
_STEPS, _PAIR_STEPS, _FEW = 200, 150, 40
_IMPOSSIBLE = 1e-6  # the least probability that one model may name: it can be wrong
_FIRST_RATE = float(np.log(0.05 / 0.95))  # not so near to 0 that the likelihood is flat
_REDRAWS, _REDRAW_STEPS = 12, 15
_STEEP = 1e-4  # of the mean squared weights: keeps them finite where the opinions are all right
_SHIFT = 0.05  # of squared shifts of the classes: a few samples do not tell how common classes are
_DOUBT = 1.0  # errors that are imagined before the labels are seen, spread over all classes
_FOLDS = 5
_MOST_ASKED = 1000  # samples by which it is chosen how much rates are held


@dataclass(frozen=True, eq=False)
class Fitted:
    """Weights of opinions, and how labels go wrong."""

    hold: float
    parameters: Floats
    deviance: float
    """−2 log p(given labels)."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is believed of each label."""

    wrong: Floats
    """The probability that it is wrong, (n,)."""
    truth: Floats
    """The probability of every class, given what the models and the label say, (n, classes)."""
    clean: Floats
    """The same by what the models say alone."""
    noise: Floats
    """T: of samples of each class (rows), how many are given which label."""
    fit: Fitted
    """Goes on judging labels that change (`rejudged`)."""
    counts: Floats
    """How many labels are wrong, for redraws of the samples."""
    contradicted: int
    """Labels that are not what the models find likeliest."""
    guessed: float
    """How many would be wrong if each had been guessed from what the models say."""


@dataclass(frozen=True, eq=False)
class Reading:
    """How a model's outputs are read as probabilities: softmax(slope · outputs + shifts)."""

    slope: float
    shifts: Floats

    def logs(self, outputs: Floats) -> Floats:
        """log p(y | x) for outputs (…, classes)."""
        clean: Floats = softmax(self.slope * outputs + self.shifts, axis=-1)
        return np.log(np.maximum(clean, _IMPOSSIBLE))


@dataclass(frozen=True, eq=False)
class Calibrated:
    """One model's outputs read as probabilities."""

    logs: Floats
    """log p(y | x), (n, classes)."""
    deviance: float
    reading: Reading


def calibrated(outputs: Floats, given: Indices) -> Calibrated:
    """Temperature and shifts under which outputs (n, classes), on any scale, make the given labels likeliest."""
    problem = _Likelihood.of([outputs], given, outputs.shape[1])
    fit = problem.fitted(steps=_FEW)
    reading = Reading(float(fit.parameters[0]), fit.parameters[1:-1])
    return Calibrated(reading.logs(outputs), fit.deviance, reading)


def judge(opinions: Sequence[Floats], given: Indices, classes: int, *, seed: int = 0) -> Verdict:
    """Opinions (n, classes) of models that did not see the sample, on the scale of logarithms of probabilities."""
    problem, rng = _Likelihood.of(opinions, given, classes), np.random.default_rng(seed)
    even = problem.fitted()
    hold = problem.best_hold(even, rng)
    best = even if hold == np.inf else problem.fitted(hold, start=problem.by_pair(even))
    truth, clean, noise = problem.verdict(best)
    counts = np.empty(_REDRAWS)
    for draw in range(_REDRAWS):
        redrawn = rng.multinomial(len(given), np.full(len(given), 1 / len(given))).astype(np.float64)
        start = (best, even)[draw % 2]  # where rates differ by pairs, they may not: that is uncertain too
        other = problem.verdict(problem.fitted(start.hold, redrawn, start.parameters, steps=_REDRAW_STEPS))[0]
        counts[draw] = (rng.random(len(given)) < _wrong(other, given)).sum()
    own = np.take_along_axis(clean, given[:, None], axis=1)[:, 0]
    contradicted = int((clean.argmax(axis=1) != given).sum())
    wrong = _told(truth, given)
    return Verdict(wrong, truth, clean, noise, best, counts, contradicted, float((1 - own).sum()))


def rejudged(fit: Fitted, opinions: Sequence[Floats], given: Indices) -> tuple[Floats, int]:
    """How probably each label is wrong, and how many are contradicted, by what was fitted to other labels."""
    truth, clean, _ = _Likelihood.of(opinions, given, opinions[0].shape[1]).verdict(fit)
    return _told(truth, given), int((clean.argmax(axis=1) != given).sum())


def suspicion(truth: Floats, given: Indices) -> Floats:
    """log Σ_{y≠ỹ} p(y) + log max_{y≠ỹ} p(y) − 2 log p(ỹ), (n,).

    >>> truth = np.array([[0.4, 0.6, 0.0], [0.4, 0.3, 0.3]])      # both labels are wrong with probability 0.6
    >>> suspicion(truth, np.array([0, 0])).round(3)
    array([0.811, 0.118])
    """
    others, number = truth.copy(), given[:, None]
    own = np.take_along_axis(truth, number, axis=1)[:, 0]
    np.put_along_axis(others, number, 0.0, axis=1)
    total, most, own = (np.log(np.maximum(each, 1e-300)) for each in (others.sum(axis=1), others.max(axis=1), own))
    found: Floats = total + most - 2 * own
    return found


def in_order(probabilities: Floats, suspicion: Floats) -> Floats:
    """The same probabilities, the highest for the most suspicious: their sum and their spread stay.

    >>> in_order(np.array([0.1, 0.2, 0.9]), np.array([3.0, 1.0, 2.0]))
    array([0.9, 0.1, 0.2])
    """
    found = np.empty_like(probabilities)
    found[np.argsort(suspicion, kind="stable")] = np.sort(probabilities)
    return found


def _told(truth: Floats, given: Indices) -> Floats:
    return in_order(_wrong(truth, given), suspicion(truth, given))


def _wrong(truth: Floats, given: Indices) -> Floats:
    found: Floats = np.clip(1 - np.take_along_axis(truth, given[:, None], axis=1)[:, 0], 0, 1)
    return found


@dataclass(frozen=True, eq=False)
class _Likelihood:
    opinions: Floats
    """(models, n, classes)."""
    given: Indices
    classes: int

    @classmethod
    def of(cls, opinions: Sequence[Floats], given: Indices, classes: int) -> _Likelihood:
        return cls(np.stack(opinions), np.asarray(given, dtype=np.intp), classes)

    @cached_property
    def _one_hot(self) -> Floats:
        found: Floats = np.eye(self.classes)[self.given]
        return found

    def best_hold(self, even: Fitted, rng: np.random.Generator) -> float:
        """How much rates of pairs are to be held to one: the most within one standard error of what predicts best."""
        samples = len(self.given)
        if samples > _MOST_ASKED:
            some = rng.choice(samples, _MOST_ASKED, replace=False)
            return _Likelihood(self.opinions[:, some], self.given[some], self.classes).best_hold(even, rng)
        start = self.by_pair(even)
        starts = [even.parameters, *(self.fitted(hold, start=start).parameters for hold in HOLDS[1:])]
        fold = rng.permutation(samples) % _FOLDS
        found = np.empty((len(HOLDS), samples))
        for one in range(_FOLDS):
            for number, (hold, begun) in enumerate(zip(HOLDS, starts, strict=True)):
                fit = self.fitted(hold, (fold != one).astype(np.float64), begun, steps=_FEW)
                found[number, fold == one] = np.log(self._model(hold, fit.parameters)[2][fold == one])
        short = found[found.sum(axis=1).argmax()] - found
        allowed = short.std(axis=1) * samples**0.5
        return HOLDS[int((short.sum(axis=1) <= allowed).argmax())]

    def by_pair(self, even: Fitted) -> Floats:
        """The same with a rate for each pair of classes, all alike so far."""
        rates = np.full(self.classes, max(even.parameters[-1], _FIRST_RATE))
        return np.concatenate([even.parameters[:-1], rates, np.zeros(self.classes**2)])

    def fitted(
        self,
        hold: float = np.inf,
        drawn: Floats | None = None,
        start: Floats | None = None,
        *,
        steps: int | None = None,
    ) -> Fitted:
        """The likeliest parameters; `drawn`: how often each sample counts."""
        models, samples, classes = self.opinions.shape
        even = hold == np.inf
        weight = np.ones(samples) if drawn is None else drawn
        if start is None:
            start = np.concatenate([np.full(models, 1 / models), np.zeros(classes), [_FIRST_RATE]])
        bounds = [(0.0, None)] * models + [(None, None)] * classes + [(-9.0, 2.0)] * (1 if even else classes)
        bounds += [(-8.0, 8.0)] * (len(start) - len(bounds))
        most = steps or (_STEPS if even else _PAIR_STEPS)
        found = minimize(
            lambda point: self.loss(hold, point, weight),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": most},
        )
        likelihood = np.log(self._model(hold, found.x)[2])
        return Fitted(hold, found.x, float(-2 * (weight * likelihood).sum()))

    def loss(self, hold: float, free: Floats, weight: Floats) -> tuple[float, Floats]:
        """What is least where the given labels are likeliest, for each sample, and its slope.

        β and b stay finite, rates off 0 by a handful of imagined errors, and those of pairs together by `hold`.
        """
        models, _, classes = self.opinions.shape
        counted = max(weight.sum(), 1.0)  # of few samples a fold may have none
        same, slope = np.arange(classes), np.zeros_like(free)
        clean, of_given, likelihood, T, spread = self._model(hold, free)
        rate = 1 - T.diagonal()
        total = (weight * np.log(likelihood)).sum() + _DOUBT * np.log(rate).mean()
        pull = (weight / likelihood)[:, None] * clean  # ∂/∂p(ỹ | x) of every class
        raised = pull * of_given - weight[:, None] * clean
        slope[:models] = np.tensordot(self.opinions, raised, axes=2)
        slope[models : models + classes] = raised.sum(axis=0)
        towards = pull.T @ self._one_hot  # ∂/∂T
        own = towards[same, same]
        mean = (towards * spread).sum(axis=1)
        rates = (mean - own) * rate * (1 - rate) + _DOUBT / classes * (1 - rate)
        beta, shifts = free[:models], free[models : models + classes]
        tame = _STEEP * counted * np.square(beta).mean() + _SHIFT * np.square(shifts).sum()
        slope[:models] -= 2 * _STEEP * counted * beta / models
        slope[models : models + classes] -= 2 * _SHIFT * shifts
        if hold == np.inf:
            slope[-1] = rates.sum()
        else:
            raw, pairs = free[models + classes :][:classes], free[models + 2 * classes :]
            apart = raw - raw.mean()
            tame += hold / 2 * (np.square(apart).sum() + np.square(pairs).sum() / classes)
            slope[models + classes :][:classes] = rates - hold * apart
            shared = rate[:, None] * spread * (towards - mean[:, None])
            slope[models + 2 * classes :] = shared.ravel() - hold * pairs / classes
        return float((tame - total) / counted), -slope / counted

    def verdict(self, fit: Fitted) -> tuple[Floats, Floats, Floats]:
        """p(y | x, ỹ), p(y | x) and T."""
        clean, of_given, likelihood, T, _ = self._model(fit.hold, fit.parameters)
        return clean * of_given / likelihood[:, None], clean, T

    def _model(self, hold: float, free: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """p(y | x), p(ỹ | y) of the given labels, p(ỹ | x) of these, T, and how wrong labels spread."""
        models, _, classes = self.opinions.shape
        clean = softmax(np.tensordot(free[:models], self.opinions, axes=1) + free[models : models + classes], axis=1)
        raw, pairs = free[models + classes :], np.zeros((classes, classes))
        if hold != np.inf:
            raw, pairs = raw[:classes], raw[classes:].reshape(classes, classes).copy()
        np.fill_diagonal(pairs, -np.inf)
        spread, rate = softmax(pairs, axis=1), np.broadcast_to(expit(raw), classes)
        T = rate[:, None] * spread + np.diag(1 - rate)
        of_given = T.T[self.given]
        return clean, of_given, np.maximum((clean * of_given).sum(axis=1), 1e-300), T, spread
