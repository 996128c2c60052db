"""Scores for people with features and labels in scikit-learn's habits."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from uniqueinfo.errors import InputError
from uniqueinfo.samples.border import check_fields, one_of
from uniqueinfo.samples.frames import index_of
from uniqueinfo.samples.targets import check_several
from uniqueinfo.scores.predictions import (
    LOGITS,
    class_numbers,
    class_probabilities,
    label_probabilities,
    loss_of,
)
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.arrays import score_features
from uniqueinfo.scoring.head import Head
from uniqueinfo.training import Training, as_training
from uniqueinfo.types import Floats

Task = Literal["auto", "classes", "numbers"]


def _says_probabilities(estimator: UniqueInformation) -> bool:
    """Whether labels are classes, as far as is known: after `fit` by y, before it by the task."""
    return hasattr(estimator, "classes_") if hasattr(estimator, "scores_") else estimator.task != "numbers"


class UniqueInformation(BaseEstimator):  # type: ignore[misc]
    """A linear head on features (n, p) that knows how much unique information each training sample gave it.

    `training`: a training algorithm, or "auto". `head`: as `score_features` takes it. `task`: "classes" makes it a
    classifier to scikit-learn, and "numbers" a regressor, whatever the kind of y; "auto" follows y, where floats are
    numbers to predict and everything else names classes. In both a matrix of 0 and 1 is several labels of each sample,
    and one of floats several numbers.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog"], 30)
    >>> X = rng.normal(size=(60, 2)) + 3 * (y == "dog")[:, None]
    >>> found = UniqueInformation().fit(X, y)
    >>> found.predict([[0.0, 0.0], [3.0, 3.0]])
    array(['cat', 'dog'], dtype='<U3')
    >>> found.scores_.weight.shape, found.loo_proba_.shape
    ((60,), (60, 2))
    """

    scores_: Scores
    """Of the training samples. Pickled they keep every measure, and no longer the network behind them."""
    loo_proba_: Floats
    """What the head trained without each sample says about it: probabilities of the classes, (n, classes), or of each
    of several labels, (n, labels); not there for numbers to predict."""
    loo_prediction_: NDArray[Any]
    """The class, the labels or the numbers that it predicts, as `predict` gives them."""
    classes_: NDArray[Any]
    """The classes in order; the labels' numbers where each sample has several; not there for numbers to predict."""
    coef_: Floats
    """Weights of the head, (outputs, features)."""
    intercept_: Floats
    """What it says of a sample of zeros, (outputs,)."""
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    """Names of the features, where X has any."""

    def __init__(
        self, training: Training | Literal["auto"] = "auto", *, head: Head = "balanced", task: Task = "auto"
    ) -> None:
        self.training = training
        self.head = head
        self.task = task

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Train and score; with `X_val` scores have the information in the function, with `y_val` the value too."""
        check_fields(self, task=one_of(*get_args(Task)))
        as_training(self.training)  # refused before X and y are looked at
        ids = index_of(X)
        if y is None:
            raise InputError("y: this estimator requires y to be passed, but the target y is None; hand over labels")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", multi_output=True, ensure_min_samples=2)
        labels, classes = self._labels(y)
        if X_val is not None:
            X_val = validate_data(self, X_val, reset=False, dtype=np.float64, order="C")
        if y_val is not None:
            y_val = self._alike(check_array(y_val, ensure_2d=False, dtype=None), labels)
        # A copy: a file that joblib mapped may be gone before the scores are asked again.
        self.scores_ = score_features(
            np.array(X),
            labels,
            X_val,
            y_val,
            training=self.training,
            head=self.head,
            classes=None if classes is None or labels.ndim > 1 else classes,
            ids=ids,
            progress=False,
        )
        self._learn(labels, classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes (m,), labels of 0 and 1 (m, labels), or numbers."""
        return self._said(self._outputs(X))

    @available_if(_says_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Of every class, (m, classes), or of each of several labels, (m, labels)."""
        return self._proba(self._outputs(X))

    @available_if(_says_probabilities)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Above zero for the second of two classes, (m,), and for each label that is there, (m, labels); of more
        classes the largest is predicted, (m, classes)."""
        outputs = self._outputs(X)
        if self._several or outputs.shape[1] == 1:
            away = outputs if self._loss in LOGITS else 2 * outputs - 1
            return away if self._several else away[:, 0]
        return outputs

    def score(self, X: Any, y: Any) -> float:
        """Accuracy for classes and labels, R² for numbers."""
        said = self.predict(X)
        return float(accuracy_score(y, said) if hasattr(self, "classes_") else r2_score(y, said))

    def _labels(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Labels as `score_features` takes them, and their classes; None for numbers."""
        if y.ndim == 2 and y.shape[1] == 1 and (self.task == "classes" or y.dtype.kind != "f"):
            y = column_or_1d(y, warn=True)
        if self.task == "numbers" or (self.task == "auto" and y.dtype.kind == "f"):
            return y.astype(np.float64), None
        check_classification_targets(y)
        y = y.astype(np.int64) if y.dtype.kind == "f" else y
        if y.ndim > 1:
            check_several("y", y)
            return y, np.arange(y.shape[1])
        classes = np.unique(y)
        if len(classes) < 2:
            raise InputError(f"y: all labels are of one class, {classes[0]!r}; give samples of two classes at least")
        return y, classes

    def _alike(self, y_val: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Validation labels of the kind of y."""
        y_val = y_val[:, 0] if y_val.ndim == 2 and labels.ndim == 1 and y_val.shape[1] == 1 else y_val
        return y_val.astype(labels.dtype) if labels.dtype.kind in "fiu" and y_val.dtype.kind in "fiub" else y_val

    def _learn(self, labels: NDArray[Any], classes: NDArray[Any] | None) -> None:
        """What the head learnt, and what it says of each sample without it."""
        for known in ("classes_", "loo_proba_"):
            if hasattr(self, known):
                delattr(self, known)
        run = self.scores_.origin.run
        weights, start = run.weights(), run.linearization.start
        features = self.n_features_in_
        self.coef_ = weights[:features].T.copy()
        self.intercept_ = np.zeros(weights.shape[1]) if start is None else start.cpu().numpy().copy()
        if len(weights) > features:
            self.intercept_ += run.linearization.intercept * weights[features]
        self._several, self._column = classes is not None and labels.ndim > 1, labels.ndim == 1
        self._loss = loss_of(self.scores_.settings)
        if classes is not None:
            self.classes_ = classes
            self.loo_proba_ = self._proba(self.scores_.loo_outputs)
        self.loo_prediction_ = self._said(self.scores_.loo_outputs)

    def _outputs(self, X: Any) -> Floats:
        check_is_fitted(self)
        found: Floats = (
            validate_data(self, X, reset=False, dtype=np.float64, order="C") @ self.coef_.T + self.intercept_
        )
        return found

    def _said(self, outputs: Floats) -> NDArray[Any]:
        if self._several:
            return (self._proba(outputs) > 0.5).astype(np.int64)
        if hasattr(self, "classes_"):
            named: NDArray[Any] = self.classes_[class_numbers(outputs, logits=self._loss in LOGITS)]
            return named
        found = np.exp(outputs) if self._loss == "poisson" else outputs
        return found[:, 0] if self._column else found

    def _proba(self, outputs: Floats) -> Floats:
        read = label_probabilities if self._several else class_probabilities
        return read(outputs, self._loss)

    def __getstate__(self) -> dict[str, Any]:
        """Without what leads back to the network: it is made of functions, which no file can hold."""
        state: dict[str, Any] = super().__getstate__()
        return state | ({"scores_": self.scores_.replaced(source=None)} if "scores_" in state else {})

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        several = getattr(self.training, "loss", None) != "cross-entropy"  # whose labels exclude others
        tags.target_tags = TargetTags(required=True, multi_output=several)
        if self.task == "classes":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_label=several)
        elif self.task == "numbers":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
