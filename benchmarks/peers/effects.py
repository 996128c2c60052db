"""From what each training sample's being there adds to each validation sample, to one number per training sample."""

from __future__ import annotations

import torch
from torch import Tensor

from benchmarks.peers.child import Found
from benchmarks.peers.problem import Problem, network


def of_outputs(problem: Problem, effects: Tensor) -> Found:
    """Effects (n, m) on the output for a validation sample's class (of two classes: on the one output there is).

    The mean square is how much predictions change. To first order the loss falls by −misfit · effect where the sample
    is there; among more than two classes the outputs for the others are left out, for the method does not give them.
    """
    with torch.no_grad():
        misfit = (network(problem.trained)(problem.X_val) - problem.val_targets).double()
    if problem.outputs > 1:
        misfit = misfit.gather(1, problem.y_val[:, None])
    value = -(effects @ misfit[:, 0]).numpy() / len(misfit)
    return {"amount": effects.square().mean(dim=1).numpy(), "value": value, "suspicion": -value}


def of_losses(effects: Tensor) -> Found:
    """By how much each validation loss falls because a sample is there, (n, m)."""
    value = effects.double().mean(dim=1).numpy()
    return {"amount": effects.double().square().mean(dim=1).numpy(), "value": value, "suspicion": -value}
