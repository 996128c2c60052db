"""What costs one pass: the loss of each training sample after training."""

from __future__ import annotations

import torch

from benchmarks.peers.child import Found
from benchmarks.peers.problem import Problem, half_squares, network


def training_loss(problem: Problem) -> Found:
    with torch.no_grad():
        found = half_squares(network(problem.trained)(problem.X), problem.targets).double().numpy()
    return {"amount": found, "suspicion": found}
