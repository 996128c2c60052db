"""traker: TRAK with one network."""

from __future__ import annotations

import contextlib
import io

import torch

from benchmarks.peers.child import Found
from benchmarks.peers.effects import of_outputs
from benchmarks.peers.problem import Problem, network
from benchmarks.traker import effects

_COLUMNS = 128
"""Well below the number of samples, as traker's inverse has no damping."""


def trak(problem: Problem) -> Found:
    train, val = (problem.X, problem.y), (problem.X_val, problem.y_val)
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bars
        found = effects(network(problem.trained), train, val, _COLUMNS)
    return of_outputs(problem, torch.from_numpy(found))
