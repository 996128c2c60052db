"""What is looked for where: people's own mistakes, and planted ones; draws of samples and of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.labels import seen
from uniqueinfo.types import Floats

Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]

RATE = 0.1
"""Of planted mistakes."""
SAMPLES, PHOTOS = 1500, 1000
"""In a draw."""
_FEWEST = 5
"""Samples of a class: peers cross-validate with five folds."""
MNIST_WRONG = (947, 1621, 1901, 2130, 2462, 2597, 2654, 3520, 3558, 5937, 6651, 6783, 8527, 9679, 9729)
"""Test digits of which fewer than three of five people chose the published label (cleanlab/label-errors, mturk)."""
_MAJORITY = 3
OTHER = -1


@dataclass(frozen=True, eq=False)
class Draw:
    """Samples with given labels, some of them wrong."""

    X: Floats
    given: Labels
    right: Labels
    """`OTHER` where it is none of the classes, or nobody knows which."""

    @property
    def wrong(self) -> Mask:
        found: Mask = self.given != self.right
        return found

    @property
    def classes(self) -> int:
        return int(self.given.max()) + 1


@dataclass(frozen=True)
class Problem:
    """A set of samples whose wrong labels are known, drawn anew for each number."""

    title: str
    draw: Callable[[int, Path, Path], Draw]
    """From the number of the draw, the folder of the data and that of the work."""


def planted(X: Floats, labels: Labels, kind: str, number: int, count: int) -> Draw:
    """`count` samples, a tenth of their labels wrong: drawn evenly, or look-alikes.

    Look-alikes are drawn among the third of the samples closest to another class for a logistic regression on the right
    labels; they get that class.
    """
    rng = np.random.default_rng(number)
    chosen = np.sort(rng.choice(len(labels), min(count, len(labels)), replace=False))
    X, labels = X[chosen], labels[chosen]
    wrong, classes = np.zeros(len(labels), dtype=bool), int(labels.max()) + 1
    errors = round(RATE * len(labels))
    if kind == "even":
        wrong[rng.choice(len(labels), errors, replace=False)] = True
        return Draw(X, np.where(wrong, (labels + rng.integers(1, classes, len(labels))) % classes, labels), labels)
    other, closeness = _closest_class(X, labels)
    wrong[rng.choice(np.argsort(-closeness, kind="stable")[: len(labels) // 3], errors, replace=False)] = True
    return Draw(X, np.where(wrong, other, labels), labels)


def _closest_class(X: Floats, labels: Labels) -> tuple[Labels, Floats]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200)).fit(X, labels)
    probabilities = model.predict_proba(X)
    own = np.take_along_axis(probabilities, labels[:, None], axis=1)[:, 0].copy()
    np.put_along_axis(probabilities, labels[:, None], -1.0, axis=1)
    return probabilities.argmax(axis=1), probabilities.max(axis=1) - own


def among(X: Floats, given: Labels, right: Labels, chosen: NDArray[np.intp]) -> Draw:
    """Some samples; those of classes that hardly occur among their labels are left out, and classes counted anew."""
    kept = chosen[np.bincount(given[chosen])[given[chosen]] >= _FEWEST]
    classes = np.unique(given[kept])
    anew = {number: at for at, number in enumerate(classes.tolist())}
    labels = (np.array([anew.get(one, OTHER) for one in each[kept].tolist()]) for each in (given, right))
    return Draw(X[kept], *labels)


def _digits(kind: str) -> Callable[[int, Path, Path], Draw]:
    def draw(number: int, data: Path, work: Path) -> Draw:
        X, part = seen.digits(data)
        return planted(X, part.labels, kind, number, SAMPLES)

    return draw


def _photos(name: str, kind: str) -> Callable[[int, Path, Path], Draw]:
    def draw(number: int, data: Path, work: Path) -> Draw:
        X, part = seen.photos(name, data, work)
        return planted(X, part.labels, kind, number, PHOTOS)

    return draw


def _people(labels: str) -> Callable[[int, Path, Path], Draw]:
    def draw(number: int, data: Path, work: Path) -> Draw:
        with np.load(data / "cifar10n_pets_vs_deer_labels.npz", allow_pickle=False) as held:
            given, clean = (
                np.concatenate([held[f"{name}_{part}"] for part in ("train", "extra_cat")]).astype(np.int64)
                for name in (labels, "clean")
            )
        chosen = np.sort(np.random.default_rng(number).choice(len(given), SAMPLES, replace=False))
        return among(seen.pets(data, work), given, clean, chosen)

    return draw


def _reviews(number: int, data: Path, work: Path) -> Draw:
    held = seen.reviews(data)
    wrong = np.array(["votes" in one and one["votes"] is not None and one["votes"][0] < _MAJORITY for one in held])
    chosen = np.sort(np.random.default_rng(number).choice(len(held), SAMPLES, replace=False))
    X = seen.by_minilm([one["t"] for one in held], work)
    given = np.array([one["s"] for one in held], dtype=np.int64)
    return among(X, given, np.where(wrong, 1 - given, given), chosen)


def _tested(number: int, data: Path, work: Path) -> Draw:
    X, given = seen.digits_tested(data)
    wrong = np.zeros(len(given), dtype=bool)
    wrong[list(MNIST_WRONG)] = True
    others = np.random.default_rng(number).choice(np.flatnonzero(~wrong), SAMPLES - len(MNIST_WRONG), replace=False)
    right = np.where(wrong, OTHER, given)
    return among(X, given, right, np.sort(np.concatenate([np.flatnonzero(wrong), others])))


PROBLEMS: dict[str, Problem] = {
    "cifar-aggre": Problem("CIFAR-10N, majority of three people", _people("aggre")),
    "cifar-random1": Problem("CIFAR-10N, one person each", _people("random1")),
    "cifar-worse": Problem("CIFAR-10N, the worst of three people", _people("worse")),
    "imdb": Problem("IMDB reviews, people's votes", _reviews),
    "mnist-test": Problem("MNIST's test digits, people's votes", _tested),
    "digits-even": Problem("MNIST digits, a tenth drawn evenly", _digits("even")),
    "digits-alike": Problem("MNIST digits, a tenth look-alikes", _digits("alike")),
    "cats-even": Problem("cats and dogs, a tenth drawn evenly", _photos("cats_dogs", "even")),
    "cats-alike": Problem("cats and dogs, a tenth look-alikes", _photos("cats_dogs", "alike")),
    "cassava-even": Problem("cassava leaves, a tenth drawn evenly", _photos("cassava", "even")),
    "cassava-alike": Problem("cassava leaves, a tenth look-alikes", _photos("cassava", "alike")),
}
HUMAN = tuple(name for name in PROBLEMS if not name.endswith(("even", "alike")))
