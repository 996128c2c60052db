"""Leave-one-out outputs read as classes: what the network trained without a sample says about it.

Trained with squared error towards 0 and 1, outputs estimate the probabilities of the classes, so the nearest point of
the simplex is read as probabilities; trained with cross-entropy, they are logits, and probabilities are their softmax.
Where each sample has several labels, every output is read alone. The margin stays on the outputs' own scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from uniqueinfo.training.loss_names import SQUARED
from uniqueinfo.types import Floats, Indices, Labels

LOGITS = ("cross-entropy", "logistic")
"""Losses under which outputs are logits."""

_LEAST_LEARNT = 0.2
"""Of the distance from chance to all right: below it the network knows too little to contradict a label."""
_NEAR = 0.05
"""How near to 0 and 1 outputs towards these are bent."""


Task = Literal["classes", "several", "numbers"]
"""One class for each sample, several labels of each, or one or more numbers to predict."""


class HasOutputs(Protocol):
    """What predictions are read from: the scores of a training."""

    @property
    def labels(self) -> Labels:
        """As the user gave them."""

    @property
    def loo_outputs(self) -> Floats:
        """Each sample's output after training without it, (n, outputs)."""

    @property
    def targets(self) -> Floats:
        """What the outputs were trained towards, (n, outputs)."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Which name the classes."""


@dataclass(frozen=True)
class Health:
    """How often the network trained without a sample names its label, and how often one would by chance.

    >>> Health(accuracy=0.57, chance=0.5).sentence
    'Leave-one-out accuracy is 57 %; always naming the commonest class gives 50 %.'
    >>> Health(accuracy=0.57, chance=0.5).poor, Health(accuracy=0.9, chance=0.5).poor
    (True, False)
    >>> Health(0.48, 0.0, "numbers").sentence
    'Trained without a sample, the network explains 48 % of the variance of the numbers.'
    """

    accuracy: float
    """The share of labels that are named right; of numbers, of their variance that is explained."""
    chance: float
    """The share of the commonest class; of several labels that of the commoner of yes and no; of numbers 0."""
    task: Task = "classes"

    @property
    def poor(self) -> bool:
        """Whether less than a fifth of what chance leaves to learn was learnt: then nothing is said about labels."""
        return self.accuracy - self.chance < _LEAST_LEARNT * (1 - self.chance)

    @property
    def sentence(self) -> str:
        """For people."""
        right, chance = f"{100 * self.accuracy:.0f} %", f"{100 * self.chance:.0f} %"
        if self.task == "numbers":
            share = right if self.accuracy > 0 else "nothing"
            return f"Trained without a sample, the network explains {share} of the variance of the numbers."
        if self.task == "several":
            return f"Leave-one-out accuracy is {right} of all labels; naming what is commoner of each gives {chance}."
        return f"Leave-one-out accuracy is {right}; always naming the commonest class gives {chance}."


@dataclass(frozen=True, eq=False)
class Predictions:
    """Given and predicted classes of every training sample, as numbers into `names`."""

    WHY_NOT: ClassVar[str] = (
        "these scores are of numbers to predict, of several labels for each sample, of mixed outputs, or of outputs by "
        "a function"
    )
    """Why there are none, for errors."""

    names: tuple[str, ...]
    given: NDArray[np.intp]
    predicted: NDArray[np.intp]
    probability: Floats
    """Of every class, (n, classes)."""
    logits: bool = field(default=False, kw_only=True)
    """Whether outputs are logits, as after training with cross-entropy or the logistic loss."""
    margin: Floats
    """Output of the given class minus the largest other one: negative where the rest of the data contradicts it."""

    @property
    def given_words(self) -> NDArray[Any]:
        """The given classes by their names."""
        return np.array(self.names, dtype=object)[self.given]

    @property
    def predicted_words(self) -> NDArray[Any]:
        """The predicted ones."""
        return np.array(self.names, dtype=object)[self.predicted]

    @property
    def health(self) -> Health:
        """Whether the network has learnt enough to be asked about labels."""
        right = float((self.predicted == self.given).mean())
        return Health(right, float(np.bincount(self.given).max()) / len(self.given))

    @property
    def confidence(self) -> Floats:
        """The probability of the predicted class."""
        found: Floats = np.take_along_axis(self.probability, self.predicted[:, None], axis=1)[:, 0]
        return found

    @classmethod
    def of(cls, scores: HasOutputs) -> Predictions | None:
        """None where the targets are no classes: regression, several labels for each sample, or mixed outputs.

        >>> from uniqueinfo.scores.table import HeldScores
        >>> scores = HeldScores(weight=np.ones(2), loo_outputs=np.array([[0.9], [0.8]]), outputs=np.zeros((2, 1)),
        ...                     targets=np.array([[0.0], [1.0]]), labels=np.array([0, 1]))
        >>> found = Predictions.of(scores)
        >>> found.predicted, found.margin
        (array([1, 1]), array([-0.8,  0.6]))
        """
        if task_of(scores) != "classes":
            return None
        logits = loss_of(scores.settings) in LOGITS
        outputs, given = one_per_class(scores.loo_outputs, logits=logits), class_numbers(scores.targets)
        own = np.take_along_axis(outputs, given[:, None], axis=1)[:, 0]
        others = outputs.copy()
        np.put_along_axis(others, given[:, None], -np.inf, axis=1)
        names = _names(scores.settings.get("classes"), outputs.shape[1])
        return cls(
            names,
            given,
            outputs.argmax(axis=1),
            probability=class_probabilities(scores.loo_outputs, loss_of(scores.settings)),
            logits=logits,
            margin=own - others.max(axis=1),
        )


def task_of(scores: HasOutputs) -> Task | None:
    """What the labels are; None where outputs say nothing of them, or there are none: mixed outputs, or a function's.

    A matrix of 0 and 1 with a single 1 in every row says classes.
    """
    labels = scores.labels
    if labels is None or scores.settings.get("output_function") is not None:
        return None
    if labels.dtype.kind == "f" or labels.ndim > 1:
        same = np.array_equal(scores.targets, labels.reshape(len(labels), -1))
        if labels.dtype.kind == "f" or not _is_one_hot(scores.targets):
            return ("numbers" if labels.dtype.kind == "f" else "several") if same else None
    return "classes" if _is_one_hot(scores.targets) else None


def class_probabilities(outputs: Floats, loss: str = SQUARED) -> Floats:
    """Outputs (n, outputs) of a network trained with a loss → probabilities of the classes, (n, classes).

    >>> class_probabilities(np.array([[0.25]])), class_probabilities(np.array([[0.0]]), "cross-entropy")
    (array([[0.75, 0.25]]), array([[0.5, 0.5]]))
    """
    if loss == "logistic" and outputs.shape[1] > 1:  # each class against all others
        found: Floats = expit(outputs) / expit(outputs).sum(axis=1, keepdims=True)
        return found
    each = one_per_class(outputs, logits=loss in LOGITS)
    return softmax(each, axis=1) if loss in LOGITS else on_simplex(each)


def label_probabilities(outputs: Floats, loss: str = SQUARED) -> Floats:
    """Outputs (n, labels), of which each says whether one label is there → its probability.

    Squared error trains outputs towards 0 and 1, beyond which some go: near both ends they are bent, so that their
    order stays and nothing is impossible.

    >>> label_probabilities(np.array([[0.25, 1.0, 1.5]])).round(3)
    array([[0.25 , 0.982, 1.   ]])
    >>> label_probabilities(np.array([[0.0]]), "logistic")
    array([[0.5]])
    """
    if loss in LOGITS:
        sure: Floats = expit(outputs)
        return sure
    low = np.minimum(outputs, 1 - outputs)
    bent = np.where(low < _NEAR, _NEAR * np.exp(np.minimum(low, _NEAR) / _NEAR - 1), low)
    return np.where(outputs <= 0.5, bent, 1 - bent)


def on_simplex(points: Floats) -> Floats:
    """The nearest probabilities: max(x − τ, 0), with the τ at which they add up to one.

    >>> on_simplex(np.array([[0.2, 0.8], [-1.0, 3.0], [1.0, 1.0]]))
    array([[0.2, 0.8],
           [0. , 1. ],
           [0.5, 0.5]])
    """
    falling = -np.sort(-points, axis=1)
    excess = (falling.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1
    found: Floats = np.maximum(points - np.take_along_axis(excess, last[:, None], axis=1), 0)
    return found


def loss_of(settings: Mapping[str, Any]) -> str:
    """The loss that scores with these settings were trained with.

    >>> loss_of({"training": {"algorithm": "Converged", "loss": "cross-entropy"}}), loss_of({})
    ('cross-entropy', 'mse')
    """
    training = settings.get("training")
    return str(training.get("loss", SQUARED)) if isinstance(training, Mapping) else SQUARED


def one_per_class(outputs: Floats, *, logits: bool = False) -> Floats:
    """Outputs (n, classes); two classes that share one output f count as two: 1 − f and f, or logits 0 and f."""
    if outputs.shape[1] > 1:
        return outputs
    return np.column_stack([np.zeros_like(outputs) if logits else 1 - outputs, outputs])


def class_numbers(outputs: Floats, *, logits: bool = False) -> Indices:
    """The class that each row of outputs, or of targets, says.

    >>> class_numbers(np.array([[0.2], [0.7]])), class_numbers(np.array([[0.1, 0.0, 0.8]]))
    (array([0, 1]), array([2]))
    """
    found: Indices = one_per_class(outputs, logits=logits).argmax(axis=1)
    return found


def targets_of(numbers: Indices, outputs: int) -> Floats:
    """What outputs are trained towards for these classes: `class_numbers` the other way round.

    >>> targets_of(np.array([0, 1]), 1).tolist(), targets_of(np.array([2]), 3).tolist()
    ([[0.0], [1.0]], [[0.0, 0.0, 1.0]])
    """
    return numbers[:, None].astype(np.float64) if outputs == 1 else np.eye(outputs)[numbers]


def in_words(targets: Floats, classes: Predictions | None) -> Any:
    """Rows of targets as a column for people: names of classes, or the numbers themselves where there are none."""
    if classes is not None:
        return np.array(classes.names, dtype=object)[class_numbers(targets)]
    return targets[:, 0] if targets.shape[1] == 1 else list(targets)


def _is_one_hot(targets: Floats) -> bool:
    zero_or_one = bool(((targets == 0) | (targets == 1)).all())
    return zero_or_one and (targets.shape[1] == 1 or bool((targets.sum(axis=1) == 1).all()))


def _names(classes: Sequence[object] | None, count: int) -> tuple[str, ...]:
    """As the settings name them, one for each output; else their numbers."""
    if classes is None or len(classes) != count:
        return tuple(str(number) for number in range(count))
    return tuple(str(name) for name in classes)
