"""Does an input look like the others? Digits, half of them black on white in place of white on black."""

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X = X / 16

scores = ui.score_features(X[:600], y[:600], X[1000:], y[1000:])
found = ui.adversarial(scores, np.concatenate([X[600:620], 1 - X[620:640]]))
print(found.sentence)
first = found.frame()["input"].head(20)
print(f"Of the first 20 of 40 inputs, {int((first >= 20).sum())} are black on white.")
