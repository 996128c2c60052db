"""Every criterion and every peer, on the same features and the same given labels; no one sees a right label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import uniqueinfo as ui
from benchmarks.labels.problems import Draw, Labels, Mask
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.types import Floats

FOLDS = 5
_SHAPLEY_NEIGHBOURS = 5  # scikit-learn's own number
_VOTES = 10
_TREES = 200
_TUNED = (1.0, 0.1, 0.01, 0.001)


@dataclass(frozen=True, eq=False)
class Found:
    """What a method says of labels: larger is more suspicious; a probability, a count and names where it has any."""

    suspicion: Floats
    probability: Floats | None = None
    count: float | None = None
    interval: tuple[float, float] | None = None
    named: Mask | None = None


def ours(draw: Draw, number: int) -> dict[str, Found]:
    judged = ui.LabelErrors(seed=number).fit(draw.X, draw.given)
    wrong = 1 - judged.label_quality_
    count = judged.count_
    named = judged.issues_["is_label_issue"].to_numpy()
    return {"uniqueinfo": Found(wrong, wrong, count.value, (count.low, count.high), named)}


def one_removal(draw: Draw, number: int) -> dict[str, Found]:
    """Criteria of one scoring of a linear head, by squared error, stopped by itself."""
    scores = ui.score_features(draw.X, draw.given, progress=False)
    found = Predictions.of(scores)
    assert found is not None
    answer = ui.mislabeled(scores)
    wrong = answer.frame(everyone=True)["wrong"].sort_index().to_numpy()
    named = np.zeros(len(wrong), dtype=bool)
    named[answer.samples[: answer.count]] = True
    interval = (answer.expected.low, answer.expected.high)
    return {
        "mislabeled(scores)": Found(wrong, wrong, answer.expected.value, interval, named),
        "leave-one-out margin": Found(-found.margin),
        "information in the weights": Found(scores.weight),
        "training loss": Found(np.square(scores.outputs - scores.targets).sum(axis=1)),
    }


def cleanlab_default(draw: Draw, number: int) -> dict[str, Found]:
    """Its tutorials' way: logistic regression, five folds."""
    from sklearn.linear_model import LogisticRegression

    return {"cleanlab": _by_cleanlab(_predicted(LogisticRegression(max_iter=1000), draw, number), draw.given)}


def cleanlab_tuned(draw: Draw, number: int) -> dict[str, Found]:
    """The same with features of deviation 1 and the decay that predicts the given labels of the other folds best."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    tried = [
        _predicted(make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=300)), draw, number) for C in _TUNED
    ]
    own = np.arange(len(draw.given)), draw.given
    best = min(tried, key=lambda one: float(-np.log(np.maximum(one[own], 1e-12)).mean()))
    return {
        "cleanlab, tuned": _by_cleanlab(best, draw.given),
        "confident joint, tuned": _confident(best, draw.given),
    }


def knn_shapley(draw: Draw, number: int) -> dict[str, Found]:
    return {"KNN-Shapley": Found(-shapley_values(draw.X, draw.given, _SHAPLEY_NEIGHBOURS))}


def neighbours(draw: Draw, number: int) -> dict[str, Found]:
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=_VOTES).fit(draw.X).kneighbors(return_distance=False)
    return {"nearest neighbours": Found((draw.given[near] != draw.given[:, None]).mean(axis=1))}


def data_oob(draw: Draw, number: int) -> dict[str, Found]:
    """Data-OOB (Kwon & Zou 2023): how often bagged trees that did not see a sample say its label."""
    from sklearn.tree import DecisionTreeClassifier

    rng, samples = np.random.default_rng(number), len(draw.given)
    said, asked = np.zeros(samples), np.zeros(samples)
    for _ in range(_TREES):
        bag = rng.integers(samples, size=samples)
        out = np.setdiff1d(np.arange(samples), bag)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(rng.integers(2**31)))
        said[out] += tree.fit(draw.X[bag], draw.given[bag]).predict(draw.X[out]) == draw.given[out]
        asked[out] += 1
    return {"Data-OOB": Found(-said / np.maximum(asked, 1))}


METHODS: dict[str, Callable[[Draw, int], dict[str, Found]]] = {
    "ours": ours,
    "one removal": one_removal,
    "cleanlab": cleanlab_default,
    "cleanlab tuned": cleanlab_tuned,
    "KNN-Shapley": knn_shapley,
    "neighbours": neighbours,
    "Data-OOB": data_oob,
}
OWN = ("uniqueinfo", "mislabeled(scores)", "leave-one-out margin", "information in the weights")
"""What is of this package: all the others are peers."""


def shapley_values(X: Floats, given: Labels, count: int) -> Floats:
    """Exact Shapley values of a nearest-neighbour classifier (Jia et al. 2019), each sample judged by all the others.

    With the others sorted by their distance, s_n = [y_n = y]/n and
    s_i = s_{i+1} + ([y_i = y] − [y_{i+1} = y])/K · min(K, i)/i.

    >>> X, y = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [0.15]]), np.array([0, 0, 0, 1, 1, 1])
    >>> int(shapley_values(X, y, 2).argmin())
    5
    """
    from sklearn.metrics import pairwise_distances

    distances = pairwise_distances(X)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :-1]  # the last is the sample itself
    same = (given[order] == given[:, None]).astype(np.float64)
    others = order.shape[1]
    place = np.arange(1, others)
    steps = (same[:, :-1] - same[:, 1:]) / count * np.minimum(count, place) / place
    last = same[:, -1:] / max(others, count)
    values = np.concatenate([steps[:, ::-1].cumsum(axis=1)[:, ::-1] + last, last], axis=1)
    found = np.zeros(len(given))
    np.add.at(found, order.ravel(), values.ravel())
    return found / len(given)


def _predicted(model: object, draw: Draw, number: int) -> Floats:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=number)
    found: Floats = cross_val_predict(model, draw.X, draw.given, cv=folds, method="predict_proba")
    return found


def _by_cleanlab(probabilities: Floats, given: Labels) -> Found:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    quality = get_label_quality_scores(given, probabilities)
    named = find_label_issues(given, probabilities)
    return Found(-quality, 1 - quality, float(named.sum()), named=named)


def _confident(probabilities: Floats, given: Labels) -> Found:
    """Off the diagonal of the confident joint first, then by the normalized margin."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    named = find_label_issues(given, probabilities, filter_by="confident_learning")
    margin = get_label_quality_scores(given, probabilities, method="normalized_margin")
    return Found(named - margin, count=float(named.sum()), named=named)
