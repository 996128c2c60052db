"""cleanlab: how well a label fits the class probabilities of a classifier that has not seen the sample."""

from __future__ import annotations

from cleanlab.rank import get_label_quality_scores
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from benchmarks.peers.child import Found
from benchmarks.peers.problem import Problem


def label_quality(problem: Problem) -> Found:
    """Its tutorials' way: logistic regression, five folds."""
    labels = problem.y.numpy()
    model = LogisticRegression(max_iter=1000)
    probabilities = cross_val_predict(model, problem.X.numpy(), labels, cv=5, method="predict_proba")
    return {"suspicion": -get_label_quality_scores(labels, probabilities)}
