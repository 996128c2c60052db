"""A table of numbers and categories: patients, one row each, some of whom were given the wrong diagnosis."""

import numpy as np
from sklearn.datasets import load_breast_cancer

import uniqueinfo as ui

table = load_breast_cancer(as_frame=True)
frame, label = table.data.copy(), table.target.map({0: "malignant", 1: "benign"})
frame["size"] = np.where(frame["mean radius"] > 14, "large", "small")  # a category becomes columns of 0 and 1
frame[table.data.columns] = (table.data - table.data.mean()) / table.data.std()
wrong = np.random.default_rng(0).permutation(400)[:20]
label.iloc[wrong] = label.iloc[wrong].map({"malignant": "benign", "benign": "malignant"})

scores = ui.score_features(frame[:400], label[:400], frame[400:], label[400:])
print(f"{len(scores)} rows, {frame.shape[1]} columns")
print(scores.frame().nlargest(3, "functional").to_string(index=False, float_format="%.3g"))
named = ui.mislabeled(scores).frame()["id"]
print(f"{named.isin(wrong).sum()} of the {len(named)} labels named were made wrong; {len(wrong)} were.")
