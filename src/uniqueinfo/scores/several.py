"""Leave-one-out outputs where each sample has several labels, or several numbers to predict: each output is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.scores.predictions import (
    LOGITS,
    HasOutputs,
    Health,
    Predictions,
    label_probabilities,
    loss_of,
    task_of,
)
from uniqueinfo.types import Floats

NAMES = "label_names"
"""Where the settings name the columns of the labels."""


def label_names(settings: Mapping[str, Any], count: int) -> tuple[str, ...]:
    """What the columns of the labels are called; their numbers where they have no names.

    >>> label_names({"label_names": ["wet", "cold"]}, 2), label_names({}, 2)
    (('wet', 'cold'), ('0', '1'))
    """
    named = settings.get(NAMES)
    if named is None or len(named) != count:
        return tuple(str(number) for number in range(count))
    return tuple(map(str, named))


def present_words(present: NDArray[Any], names: tuple[str, ...]) -> NDArray[Any]:
    """Rows of 0 and 1 as lists of the labels that are there.

    >>> present_words(np.array([[1, 0, 1], [0, 0, 0]]), ("wet", "cold", "dark")).tolist()
    ['wet + dark', 'none']
    """
    found = np.empty(len(present), dtype=object)
    found[:] = [" + ".join(name for name, one in zip(names, row, strict=True) if one) or "none" for row in present]
    return found


@dataclass(frozen=True, eq=False)
class LabelPredictions:
    """Given and predicted labels of every sample, (n, labels) of 0 and 1.

    >>> from uniqueinfo.scores.table import HeldScores
    >>> labels = np.array([[1, 1], [0, 0]])
    >>> scores = HeldScores(weight=np.ones(2), loo_outputs=np.array([[0.9, 0.2], [0.1, 0.3]]), outputs=np.zeros((2, 2)),
    ...                     targets=labels.astype(float), labels=labels)
    >>> LabelPredictions.of(scores).predicted.tolist(), LabelPredictions.of(scores).margin.round(1).tolist()
    ([[1, 0], [0, 0]], [[0.8, -0.6], [0.8, 0.4]])
    """

    names: tuple[str, ...]
    given: NDArray[np.intp]
    probability: Floats
    """That each label is there."""
    margin: Floats = field(repr=False)
    """By how much the output speaks for what is given: negative where the rest of the data contradicts it."""

    @property
    def predicted(self) -> NDArray[np.intp]:
        """The labels that are there rather than not."""
        return (self.probability > 0.5).astype(np.intp)

    @property
    def given_words(self) -> NDArray[Any]:
        """The labels that each sample was given."""
        return present_words(self.given, self.names)

    @property
    def predicted_words(self) -> NDArray[Any]:
        """Those predicted."""
        return present_words(self.predicted, self.names)

    @property
    def health(self) -> Health:
        """Whether the network has learnt enough to be asked about labels."""
        share = self.given.mean(axis=0)
        return Health(
            float((self.predicted == self.given).mean()), float(np.maximum(share, 1 - share).mean()), "several"
        )

    @classmethod
    def of(cls, scores: HasOutputs) -> LabelPredictions | None:
        """None where samples have one label each, or numbers."""
        if task_of(scores) != "several":
            return None
        loss, given = loss_of(scores.settings), scores.targets.astype(np.intp)
        away = scores.loo_outputs if loss in LOGITS else 2 * scores.loo_outputs - 1
        return cls(
            label_names(scores.settings, given.shape[1]),
            given,
            probability=label_probabilities(scores.loo_outputs, loss),
            margin=np.where(given == 1, away, -away),
        )


@dataclass(frozen=True, eq=False)
class NumberPredictions:
    """Given numbers of every sample, and those that the network trained without it predicts, (n, numbers)."""

    names: tuple[str, ...]
    given: Floats
    predicted: Floats

    @property
    def given_words(self) -> NDArray[Any]:
        """The numbers as they are; several of each sample by their names."""
        return _numbers(self.given, self.names)

    @property
    def predicted_words(self) -> NDArray[Any]:
        """Those predicted."""
        return _numbers(self.predicted, self.names)

    @property
    def health(self) -> Health:
        """How much of the variance is explained, the mean over the columns; one that never varies has none."""
        error, spread = np.square(self.given - self.predicted).mean(axis=0), self.given.var(axis=0)
        explained = 1 - error[spread > 0] / spread[spread > 0]
        return Health(float(explained.mean()) if len(explained) else 0.0, 0.0, "numbers")

    @classmethod
    def of(cls, scores: HasOutputs) -> NumberPredictions | None:
        """None where labels are no numbers to predict.

        >>> from uniqueinfo.scores.table import HeldScores
        >>> scores = HeldScores(weight=np.ones(2), loo_outputs=np.array([[1.0], [3.0]]), outputs=np.zeros((2, 1)),
        ...                     targets=np.array([[1.0], [5.0]]), labels=np.array([1.0, 5.0]))
        >>> NumberPredictions.of(scores).health.accuracy
        0.5
        """
        if task_of(scores) != "numbers":
            return None
        rates = loss_of(scores.settings) == "poisson"  # whose outputs are logarithms
        predicted = np.exp(scores.loo_outputs) if rates else scores.loo_outputs
        return cls(label_names(scores.settings, scores.targets.shape[1]), scores.targets, predicted)


Said: TypeAlias = Predictions | LabelPredictions | NumberPredictions


def said_of(scores: HasOutputs) -> Said | None:
    """What the network trained without each sample says about it, whatever labels are; None where it says nothing."""
    if (classes := Predictions.of(scores)) is not None:
        return classes
    if (several := LabelPredictions.of(scores)) is not None:
        return several
    return NumberPredictions.of(scores)


def _numbers(values: Floats, names: tuple[str, ...]) -> NDArray[Any]:
    if values.shape[1] == 1:
        return values[:, 0]
    found = np.empty(len(values), dtype=object)
    found[:] = [", ".join(f"{name} {one:.4g}" for name, one in zip(names, row, strict=True)) for row in values]
    return found
