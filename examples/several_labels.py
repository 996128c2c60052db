"""Several labels of each sample: four moods that a song may have at once, one of them ticked wrongly 30 times."""

import numpy as np
import pandas as pd

import uniqueinfo as ui

rng = np.random.default_rng(0)
moods = ["calm", "dark", "fast", "loud"]
directions = rng.normal(size=(20, 4))
X = rng.normal(size=(1000, 20))
y = (X @ directions / 20**0.5 + 0.1 * rng.normal(size=(1000, 4)) > 0).astype(int)
wrong = rng.choice(800, 30, replace=False)
y[wrong, 1] = 1 - y[wrong, 1]  # 30 times, "dark" says the opposite
y = pd.DataFrame(y, columns=moods)

training = ui.Converged(0.01, loss="logistic")
scores = ui.score_features(X[:800], y[:800], X[800:], y[800:], training=training)
found = ui.mislabeled(scores)
print(found.sentence)
table = found.frame().head(30)
print(f"of the 30 most suspected, {np.isin(table['id'].astype(int), wrong).sum()} are among the 30 that were changed")
print(table[["id", "label", "suggested"]].head(3).to_string(index=False))
