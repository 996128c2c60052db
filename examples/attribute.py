"""What did this prediction come from? A digit that the network gets wrong, and the training samples behind that."""

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X = X / 16

scores = ui.score_features(X[:600], y[:600], X[1000:], y[1000:])
run = scores.origin.run
predicted = run.outputs(scores.origin.probe).argmax(axis=1)
missed = int(np.flatnonzero(predicted != y[1000:])[0])
print(f"Validation sample {missed} is a {y[1000 + missed]}; predicted is {predicted[missed]}.")

found = ui.attribute(scores, missed, top=5)
print(found.sentence)
print(found.frame().to_string(index=False, float_format="%.3g"))
