"""Which source is worth more of? Two vendors deliver digits; one of them sends copies of fifty, with noise."""

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X = X / 16
rng = np.random.default_rng(0)
copied = rng.integers(0, 50, 300)
features = np.concatenate([X[:300], X[300:350][copied] + 0.02 * rng.normal(size=(300, 64))])
labels = np.concatenate([y[:300], y[300:350][copied]])
vendor = np.repeat(["careful", "copying"], 300)

scores = ui.score_features(features, labels, X[1000:], y[1000:], columns={"vendor": vendor})
found = ui.compare(scores, by="vendor")
print(found.sentence)
print(found.frame().to_string(index=False, float_format="%.3g"))
