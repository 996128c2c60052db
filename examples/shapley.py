"""What is a sample worth in smaller data? Of two copies each tells nothing new; in smaller data it does."""

import numpy as np
from sklearn.datasets import load_wine

import uniqueinfo as ui

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
order = np.random.default_rng(0).permutation(len(y))
train, val = order[:80], order[80:]
train = np.concatenate([train, train[:1]])  # the first one twice

scores = ui.score_features(X[train], y[train], X[val], y[val], training=ui.Converged(weight_decay=1e-2))
found = ui.shapley(scores, subsets=200)
print(found.sentence)
mean = scores.functional.mean()
print(f"The copied one beside the mean, all others there: {scores.functional[0] / mean:.2f} times")
print(f"The copied one beside the mean, in random parts: {found.average[0] / found.average.mean():.2f} times")
