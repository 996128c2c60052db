"""How far rounding alone moves a trained network: the least that training again without a sample can tell.

The same training is done twice, the second time with its samples in another order. Full batches are sums over all
samples, so that nothing but the rounding of these sums differs. A change that leaving a sample out makes is known only
where it is well above this.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from uniqueinfo.baselines.descent import Descent, Followed
from uniqueinfo.experiments.kept import Arrays
from uniqueinfo.experiments.table1_problems import Problem


def apart_by_rounding(problem: Problem, training: Followed, seed: int, device: str) -> Arrays:
    """½‖w − w'‖² and (1/2m) Σ_j ‖f − f'‖² of two trainings on the same samples, in two orders."""
    (X, y), seen = problem.train, problem.val[0].to(device)
    X, targets = X.to(device), y[:, None].float().to(device)
    once = Descent(problem.network, X, targets, training=training)
    first = once.train([[]])
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed)).to(device)
    again = replace(once, inputs=X[order], targets=targets[order])  # along flow by the same strides
    second = again.train([[]])
    weights = sum(float((first[name] - second[name]).double().square().sum()) for name in first) / 2
    outputs = (once.outputs(first, seen) - again.outputs(second, seen)).double()
    return {
        "weights": torch.tensor([weights], dtype=torch.float64).numpy(),
        "predictions": (outputs.square().sum() / (2 * len(seen))).reshape(1).cpu().numpy(),
    }
