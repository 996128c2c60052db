"""Ways to choose the next samples to label, from the features of all and the labels bought so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.linear_model import LogisticRegression

import uniqueinfo as ui
from uniqueinfo.scores.predictions import class_numbers
from uniqueinfo.types import Floats, Indices

DECAYS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Of the linear head, with features of length about 1: the one with the least leave-one-out error is taken."""


@dataclass(frozen=True, eq=False)
class State:
    """What is known at one time."""

    X: Floats
    y: Indices
    """Of all; only those that are labelled may be looked at."""
    labelled: Indices
    rng: np.random.Generator

    @cached_property
    def rest(self) -> Indices:
        """Candidates."""
        return np.setdiff1d(np.arange(len(self.X)), self.labelled)

    @cached_property
    def logistic(self) -> LogisticRegression:
        """Logistic regression at scikit-learn's defaults."""
        return LogisticRegression(max_iter=2000).fit(self.X[self.labelled], self.y[self.labelled])

    @cached_property
    def probabilities(self) -> Floats:
        """Of the candidates, by logistic regression."""
        found: Floats = self.logistic.predict_proba(self.X[self.rest])
        return found

    @cached_property
    def scores(self) -> ui.Scores:
        """Of the labelled samples, looked at on the candidates."""
        found = [self._scored(decay) for decay in DECAYS]
        return min(found, key=lambda scores: float(scores.loo_loss.mean()))

    def right_by_logistic(self, X: Floats, y: Indices) -> float:
        """Accuracy on other samples."""
        return float((self.logistic.predict(X) == y).mean())

    def right_by_head(self, X: Floats, y: Indices) -> float:
        """The same of the linear head that ours goes by."""
        run = self.scores.origin.run
        outputs = run.outputs(run.linearization.probe(self._scaled(X)))
        classes = np.unique(self.y[self.labelled])
        return float((classes[class_numbers(outputs)] == y).mean())

    def acquired(self, count: int) -> Indices:
        """Ours."""
        return ui.acquire(self.scores, self._scaled(self.X[self.rest]), budget=count).chosen

    def alone(self) -> Floats:
        """What each candidate would add alone, by ours."""
        return ui.acquire(self.scores, self._scaled(self.X[self.rest]), budget=1).alone

    def _scored(self, decay: float) -> ui.Scores:
        training = ui.Converged(decay)
        X, rest = self._scaled(self.X[self.labelled]), self._scaled(self.X[self.rest])
        return ui.score_features(X, self.y[self.labelled], rest, training=training, progress=False)

    def _scaled(self, X: Floats) -> Floats:
        found: Floats = X / X.shape[1] ** 0.5
        return found


def _information(state: State, count: int) -> Indices:
    return state.acquired(count)


def _each_alone(state: State, count: int) -> Indices:
    return np.argsort(-state.alone(), kind="stable")[:count]


def _entropy(state: State, count: int) -> Indices:
    p = state.probabilities
    return np.argsort((p * np.log(np.maximum(p, 1e-300))).sum(axis=1), kind="stable")[:count]


def _margin(state: State, count: int) -> Indices:
    first = np.sort(state.probabilities, axis=1)
    return np.argsort(first[:, -1] - first[:, -2], kind="stable")[:count]


def _k_center(state: State, count: int) -> Indices:
    """Each the one farthest from all labelled and chosen samples."""
    X, squares = state.X[state.rest], np.square(state.X).sum(axis=1)
    apart = squares[state.rest][:, None] + squares[state.labelled] - 2 * X @ state.X[state.labelled].T
    nearest, found = apart.min(axis=1), []
    for _ in range(count):
        found.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.square(X - X[found[-1]]).sum(axis=1))
    return np.array(found)


def _random(state: State, count: int) -> Indices:
    return state.rng.permutation(len(state.rest))[:count]


OURS = "information, together"
STRATEGIES: dict[str, Callable[[State, int], Indices]] = {
    OURS: _information,
    "information, each alone": _each_alone,
    "entropy": _entropy,
    "margin": _margin,
    "k-center": _k_center,
    "random": _random,
}
"""From what is known to positions among the candidates."""
