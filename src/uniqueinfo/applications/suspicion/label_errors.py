"""Wrong labels for people with features and labels in scikit-learn's habits."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from uniqueinfo.applications.suspicion.evidence import Neighbours
from uniqueinfo.applications.suspicion.members import NEIGHBOURS
from uniqueinfo.applications.suspicion.tasks import (
    Believed,
    about,
    conflicting,
    first_suspects,
    of_classes,
    of_numbers,
    of_several,
    unlike_others,
)
from uniqueinfo.errors import InputError
from uniqueinfo.samples.border import NUMBER, SEED, check_fields
from uniqueinfo.samples.frames import index_of
from uniqueinfo.scoring.given import GivenFeatures
from uniqueinfo.scoring.sources import FeatureSource
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

_FEWEST = 10


class LabelErrors(BaseEstimator):  # type: ignore[misc]
    """How probable it is that each label is wrong, from features (n, p) and labels.

    `y`: one class for each sample; a matrix of 0 and 1 for several labels of each; or floats, (n,) or (n, k), where
    wrong ones are outliers. Every sample is judged by models that were trained without it (a linear head, Gaussian
    kernels, nearest neighbours), weighed by how likely they make the given labels; how often labels are wrong is found
    from these too.

    `precision`: name as many suspects as leave this share of them expected to be wrong; None names those that are
    wrong rather than right. `seed`: of the redraws behind the interval of the count.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 40)
    >>> X = 4 * np.eye(3)[y] + rng.normal(size=(120, 3))
    >>> y[7] = 2
    >>> found = LabelErrors().fit(X, y)
    >>> int(found.label_quality_.argmin()), found.issues_.loc[7, "predicted_label"].item()
    (7, 0)
    """

    label_quality_: Floats
    """(n,): the probability that each label is right; low = wrong."""
    issues_: pd.DataFrame
    """One row for each sample: is_label_issue, label_score (its quality), given_label, predicted_label,
    is_outlier_issue, outlier_score (low: unlike all others, perhaps of no class) and is_conflicting (an exact copy has
    another label)."""
    count_: Interval
    """How many labels are wrong in all, if mistakes fall on easy and hard samples alike. Its interval reaches from the
    2.5 % quantile of redraws to what would be wrong if each label had been guessed from what the models say: labels
    alone do not tell samples that are hard from mistakes that fall on hard samples."""
    contradicted_: int
    """How many labels the models contradict."""
    noise_matrix_: Floats | None
    """Of samples of each class (rows), how many were given which label; None where labels are no classes."""
    classes_: NDArray[Any] | None
    """The classes, in the order of that matrix."""
    n_features_in_: int

    def __init__(self, *, precision: float | None = None, seed: int = 0) -> None:
        self.precision = precision
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Judge all labels; `X` and `y` as `score_features` takes them."""
        check_fields(self, seed=SEED, **({} if self.precision is None else {"precision": NUMBER}))
        if self.precision is not None and not 0 < self.precision <= 1:
            raise InputError(f"precision: expected a share above 0 and at most 1, got {self.precision}")
        source = GivenFeatures(X, y).sources("balanced", None).train
        assert isinstance(source, FeatureSource)
        features = np.asarray(source.read(slice(0, source.samples)).rows, dtype=np.float64)[:, 0, : source.X.shape[1]]
        labels, classes = np.asarray(source.y[:]), source.encoding.classes
        if len(labels) < _FEWEST:
            raise InputError(f"X: {len(labels)} samples are too few to judge their labels; give {_FEWEST} at least")
        found = self._believed(features, labels, source)
        neighbours = Neighbours.of(features, NEIGHBOURS)
        odd, score = unlike_others(neighbours)
        self.label_quality_ = 1 - found.wrong
        self.count_, self.contradicted_ = found.count, found.contradicted
        self.noise_matrix_, self.classes_ = found.noise, classes
        self.n_features_in_ = features.shape[1]
        self.issues_ = pd.DataFrame(
            {
                "is_label_issue": first_suspects(found.wrong, self.precision),
                "label_score": self.label_quality_,
                "given_label": labels if labels.ndim == 1 else list(labels.tolist()),
                "predicted_label": found.predicted,
                "is_outlier_issue": odd,
                "outlier_score": score,
                "is_conflicting": conflicting(neighbours, labels),
            },
            index=index_of(X),
        )
        return self

    def _believed(self, X: Floats, labels: NDArray[Any], source: FeatureSource) -> Believed:
        classes = source.encoding.classes
        if classes is not None:
            named = labels.astype(str) if labels.dtype.kind == "O" else labels
            order = np.argsort(classes, kind="stable")
            given = order[np.searchsorted(classes[order], named)]
            if len(np.unique(given)) < 2:
                raise InputError(
                    f"y: all labels are {named[0]!r}, so there is nothing to tell apart; give other labels"
                )
            return of_classes(X, given, classes, self.seed)
        if labels.dtype.kind != "f":
            return of_several(X, labels, self.seed)
        return of_numbers(X, labels.reshape(len(labels), -1).astype(np.float64), self.seed)

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        named = self.issues_["is_label_issue"].to_numpy()
        first = "None is named."
        if named.any():
            sure = 1 - self.label_quality_[named].mean()
            first = f"{named.sum():,} are named, of which about {100 * sure:.0f} % are."
        return f"{about(self.count_)} {first}"
