"""Methods no one would publish, to see what the runner makes of them."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.child import Found
from benchmarks.peers.problem import Problem

_ONE = 300 << 20


def sums(problem: Problem) -> Found:
    found = problem.X.sum(dim=1).double().numpy()
    held = np.ones(_ONE, dtype=np.uint8)
    return {"amount": found * held[0], "suspicion": -found}


def fails(problem: Problem) -> Found:
    raise ValueError(f"{len(problem.X)} samples are not enough")


def spins(problem: Problem) -> Found:
    while len(problem.X) == 30:  # not the tiny problem of the first call
        pass
    return {}


def gathers(problem: Problem) -> Found:
    return {"amount": np.ones((len(problem.X), 2**28)).sum(axis=1)}


def too_few(problem: Problem) -> Found:
    return {"amount": np.ones(len(problem.X) - 1)}
