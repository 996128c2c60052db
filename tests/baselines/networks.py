"""A small network, trained, in float64."""

from __future__ import annotations

import torch
from torch import nn

from tests.oracles.influence import Problem


def trained(steps: int = 400, decay: float = 0.0) -> Problem:
    """A tanh network after gradient descent on 14 samples of two outputs."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    inputs, val = torch.randn(14, 3, dtype=torch.float64), torch.randn(9, 3, dtype=torch.float64)
    targets = torch.stack([inputs.prod(1), inputs.sum(1).sin()], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=decay)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(inputs) - targets).square().sum() / 2 / len(inputs)).backward()
        optimizer.step()
    return Problem(model, (inputs, targets), (val, torch.stack([val.prod(1), val.sum(1).sin()], 1)))
