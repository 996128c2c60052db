"""How many clusters find a rare group: ``python -m benchmarks.subclasses``, a minute.

A class is made of several digits or letters, of which one is rare, and labels do not tell them. Printed is how many
times its share of the class the rare one has in the cluster where it is most at home (of five samples or more), by the
number of clusters: what `ui.subclasses` takes, as many as the silhouette likes best, and fixed numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import silhouette_score

import uniqueinfo as ui
from benchmarks.data import FOLDER
from uniqueinfo.applications.subclasses import _coordinates, subclasses
from uniqueinfo.types import Floats, Indices

FIXED = (5, 10, 20)
_SILHOUETTE = range(2, 11)
_SHARE, _FEWEST, _VALIDATION, _DIGITS = 0.1, 5, 300, 6000


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples inside a class or outside, and which of those inside are of the rare kind."""

    name: str
    X: Floats
    inside: NDArray[np.bool_]
    rare: NDArray[np.bool_]


def problems() -> Iterator[Problem]:
    """Even digits of UCI's, odd ones of MNIST's, and letters."""
    X, y = load_digits(return_X_y=True)
    for rare in (0, 2, 4, 6, 8):
        yield _problem(f"UCI, even, few {rare}", X / 16, y, (0, 2, 4, 6, 8), rare, count=15)
    with np.load(FOLDER / "mnist_full.npz") as mnist:
        X, y = _halved(mnist["x_train"][:_DIGITS]), mnist["y_train"][:_DIGITS]
    for rare in (1, 3, 5, 7, 9):
        yield _problem(f"MNIST, odd, few {rare}", X, y, (1, 3, 5, 7, 9), rare, count=40)
    with np.load(FOLDER / "emnist_letters_26c.npz") as emnist:
        X, y = _halved(emnist["x_train"]), emnist["y_train"] - emnist["y_train"].min()
    rng = np.random.default_rng(1)
    for number in range(6):
        letters = rng.choice(26, 8, replace=False)
        among = np.isin(y, letters)
        yield _problem(f"letters {number}", X[among], y[among], tuple(letters[:4]), letters[0], count=40, seed=number)


def found(problem: Problem) -> dict[str, float]:
    """By the number of clusters, how many times its share the rare kind has."""
    labels = np.where(problem.inside, "in", "out")
    few = slice(0, _VALIDATION)
    scores = ui.score_features(problem.X, labels, problem.X[few], labels[few], progress=False)
    information = scores.information
    own = np.flatnonzero(problem.inside)
    looked = own[np.argsort(-information[own], kind="stable")][: max(round(_SHARE * len(own)), 3)]
    points = _coordinates(scores, looked)
    fits = [KMeans(count, n_init=10, random_state=0).fit_predict(points) for count in _SILHOUETTE]
    liked = _SILHOUETTE[int(np.argmax([silhouette_score(points, fit) for fit in fits]))]
    counts = {"as it is": None, "silhouette": liked} | {str(count): count for count in FIXED}
    return {name: _enriched(problem, scores, clusters) for name, clusters in counts.items()}


def _enriched(problem: Problem, scores: ui.Scores, clusters: int | None) -> float:
    answer = subclasses(scores, "in", share=_SHARE, clusters=clusters)
    shares = [problem.rare[one.members].mean() for one in answer.clusters if len(one.members) >= _FEWEST]
    return float(max(shares, default=0.0) / problem.rare[problem.inside].mean())


def _problem(
    name: str, X: Floats, y: Indices, group: Sequence[int], rare: int, *, count: int, seed: int = 0
) -> Problem:
    """With so few of one kind."""
    rng = np.random.default_rng(seed)
    kinds = (np.flatnonzero(y == kind) for kind in np.unique(y))
    kept = np.concatenate([rng.choice(at, count, replace=False) if y[at[0]] == rare else at for at in kinds])
    return Problem(name, X[kept], np.isin(y[kept], group), y[kept] == rare)


def _halved(pictures: NDArray[np.uint8]) -> Floats:
    """Every other pixel of both sides."""
    found: Floats = pictures.reshape(-1, 28, 28)[:, ::2, ::2].reshape(len(pictures), -1) / 255
    return found


def main() -> None:
    rows = {problem.name: found(problem) for problem in problems()}
    ways = list(next(iter(rows.values())))
    table = Table("problem", *ways)
    for name, row in rows.items():
        table.add_row(name, *(f"{row[way]:.1f}" for way in ways))
    table.add_section()
    for name, summary in (("mean", np.mean), ("median", np.median)):
        table.add_row(name, *(f"{summary([row[way] for row in rows.values()]):.1f}" for way in ways))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
