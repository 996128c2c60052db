"""scikit-learn: what leaving each sample out does to a ridge regression, held against its own cross-validation."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import uniqueinfo as ui

X, y = load_diabetes(return_X_y=True)

training = ui.Converged(weight_decay=0.1, reduction="sum")  # Ridge adds its penalty to a sum of squares
scores = ui.score_features(X, y, training=training, head="paper")
ridge = Ridge(alpha=0.1, fit_intercept=False)
theirs = cross_val_predict(ridge, X, y, cv=LeaveOneOut())
apart = np.abs(scores.loo_outputs[:, 0] - theirs).max()
print(f"{len(y)} predictions of numbers from 25 to 346, each without its sample; less than 1e-9 apart: {apart < 1e-9}")
