"""Which labels are wrong? Handwritten digits, thirty of them with a label that is not theirs."""

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, y[:600]
rng = np.random.default_rng(0)
wrong = rng.permutation(600)[:30]
given = y.copy()
given[wrong] = (given[wrong] + rng.integers(1, 10, 30)) % 10

scores = ui.score_features(X, given)
found = ui.mislabeled(scores)
print(found.sentence)
print(found.frame()[["id", "label", "suggested", "wrong"]].head(5).to_string(index=False))
named = found.frame()["id"]
print(f"Named rightly: {named.isin(wrong).sum()} of {len(named)}; planted: {len(wrong)}")

several = ui.LabelErrors().fit(X, given)  # asks kernels and neighbours too
named = np.flatnonzero(several.issues_["is_label_issue"])
print(f"By several models: {np.isin(named, wrong).sum()} of {len(named)} rightly")
