"""Pictures and a network of your own: a small convolutional network on handwritten digits."""

import torch
from sklearn.datasets import load_digits
from torch import nn

import uniqueinfo as ui

digits = load_digits(n_class=3)
X = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)
y = torch.tensor(digits.target)

torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(288, 3),
)
training = ui.Converged(weight_decay=1e-3)
scores = ui.score(ui.centred(network), (X[:150], y[:150]), (X[300:], y[300:]), training=training)
print(f"{len(scores)} pictures, {sum(each.numel() for each in network.parameters()):,} parameters")
most = scores.frame().nlargest(3, "functional")
print(most.to_string(index=False, float_format="%.3g"))
page = ui.report(scores, "report.html", samples=list((255 * X[:150, 0]).to(torch.uint8).numpy()))
print(f"Page: {page.name}")
