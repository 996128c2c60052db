"""Wrong labels: planted, looked for by cross-validation, and how well a ranking finds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.types import Floats

Labels = NDArray[np.int64]

NOISE, FOLDS = 0.1, 5


def noisy(labels: Labels, classes: int, seed: int) -> tuple[Labels, NDArray[np.bool_]]:
    """Labels of which a tenth is another class, each equally likely, and which these are.

    >>> given, wrong = noisy(np.zeros(20, int), classes=3, seed=0)
    >>> int(wrong.sum()), set(given[wrong].tolist()) <= {1, 2}, bool((given[~wrong] == 0).all())
    (2, True, True)
    """
    rng = np.random.default_rng(seed)
    wrong = np.zeros(len(labels), dtype=bool)
    wrong[rng.choice(len(labels), round(NOISE * len(labels)), replace=False)] = True
    shift = rng.integers(1, classes, len(labels))
    return np.where(wrong, (labels + shift) % classes, labels), wrong


def cleanlab_quality(inputs: Floats, labels: Labels, seed: int) -> Floats | None:
    """Label quality from the probabilities of logistic regression on the other folds; None where not installed.

    Of C = 1, 0.1 and 0.01 the last does best on MNIST with wrong labels, so that is what the others are held against.
    """
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return None
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    probabilities = cross_val_predict(model, inputs, labels, cv=folds, method="predict_proba")
    found: Floats = get_label_quality_scores(labels, probabilities)
    return found


def ranking(suspicion: Floats, wrong: NDArray[np.bool_]) -> dict[str, float]:
    """Area under the ROC curve, average precision, and how many of the first suspects, as many as are wrong, are."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    first = np.argsort(-suspicion, kind="stable")[: wrong.sum()]
    return {
        "auroc": float(roc_auc_score(wrong, suspicion)),
        "average_precision": float(average_precision_score(wrong, suspicion)),
        "precision_at_noise_rate": float(wrong[first].mean()),
    }
