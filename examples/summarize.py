"""How few samples are enough? A fifth of the digits, chosen so that the network loses as little as it can."""

from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X = X / 16

scores = ui.score_features(X[:800], y[:800], X[1000:], y[1000:], training=ui.Converged(weight_decay=1e-2))
for strategy in ("iterative", "random"):
    kept = ui.summarize(scores, keep=0.2, strategy=strategy, balanced=True)
    print(f"{strategy}: {kept.sentence}")
