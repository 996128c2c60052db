"""Which sub-group is too small? "Even" and "odd" digits, among the even ones only a dozen fours."""

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X = X / 16
fours = np.flatnonzero(y[:1000] == 4)
kept = np.setdiff1d(np.arange(1000), fours[12:])
digit, label = y[kept], np.where(y[kept] % 2, "odd", "even")

scores = ui.score_features(X[kept], label, X[1000:], np.where(y[1000:] % 2, "odd", "even"))
found = ui.subclasses(scores, "even", share=0.1)
print(found.sentence)
print(found.score_against(digit).head(4).to_string(index=False, float_format="%.3g"))
