"""Which samples repeat one another? Ten digits copied, ten copied with noise, two in the validation data too."""

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X = X / 16
rng = np.random.default_rng(0)
features = np.concatenate([X[:500], X[:10], X[10:20] + 0.01 * rng.normal(size=(10, 64))])
labels = np.concatenate([y[:500], y[:10], y[10:20]])
unseen, wanted = np.concatenate([X[1000:], X[30:32]]), np.concatenate([y[1000:], y[30:32]])

found = ui.redundancy(ui.score_features(features, labels, unseen, wanted))
print(found.sentence)
print(found.frame().groupby(["where", "kind"], as_index=False, observed=True).size().to_string(index=False))
