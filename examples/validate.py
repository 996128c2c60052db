"""How far can I trust all this? A small network, trained again without each of twelve samples."""

import torch
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(n_class=2, return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train, val = (X[:200], y[:200]), (X[200:], y[200:])

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
training = ui.GradientDescent(lr=0.01, steps=100)
scores = ui.score(model, train, val, training=training)
found = ui.validate(model, train, val, training, scores=scores)
print(found.sentence)
print(found.frame()[["id", "functional", "functional_retrained"]].head(4).to_string(index=False, float_format="%.3g"))
