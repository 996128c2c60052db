"""What really happens without a sample: the network is trained again, for a few samples of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.peers.problem import Problem, half_squares, network
from uniqueinfo import GradientDescent
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Truth:
    """Of each of the samples left out."""

    samples: NDArray[np.intp]
    amount: Floats
    """(1/2m) Σ_j ‖f(x_j) − f₋(x_j)‖² over the validation samples."""
    value: Floats
    """What the mean validation loss gains."""
    seconds: float
    """Processor time of all trainings."""


def retrained(problem: Problem, count: int, folder: Path) -> Truth:
    """One sample out of each of `count` equal parts of the training samples, ordered by their loss after training.

    A head is trained in double precision, for which there is time; the network as it was.
    """
    with torch.no_grad():
        loss = half_squares(network(problem.trained)(problem.X), problem.targets).numpy()
    rng = np.random.default_rng(0)
    samples = np.sort([rng.choice(part) for part in np.array_split(np.argsort(loss, kind="stable"), count)])
    model, X, X_val = network(problem.start), problem.X, problem.X_val
    if len(problem.start) == 1:
        model, X, X_val = model.double(), X.double(), X_val.double()
    found = retrain(
        model,
        (X, problem.y),
        (X_val, problem.y_val),
        training=GradientDescent(problem.lr, problem.steps),
        samples=samples,
        folder=folder,
    )
    assert found.functional is not None
    assert found.value is not None
    return Truth(samples, found.functional, found.value, found.seconds)
