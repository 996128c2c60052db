"""The training loop itself, step by step, as PyTorch's SGD runs it on a linear model."""

from __future__ import annotations

import torch

from uniqueinfo.training import GradientDescent
from uniqueinfo.types import Floats


def descend(J: Floats, residual: Floats, training: GradientDescent) -> Floats:
    """w − w0 after running the loop with torch.optim.SGD; weight decay pulls towards w0 = 0."""
    rows, wanted = torch.from_numpy(J), torch.from_numpy(residual)
    w = torch.zeros(J.shape[2], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=training.lr, momentum=training.momentum, weight_decay=training.weight_decay)
    for _ in range(training.steps):
        optimizer.zero_grad()
        loss = (rows @ w - wanted).square().sum() / 2
        if training.reduction == "mean":
            loss = loss / len(rows)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return w.detach().numpy()
