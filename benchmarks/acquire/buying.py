"""Labels bought round by round by one strategy, and the accuracy after every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.acquire.strategies import STRATEGIES, State
from benchmarks.acquire.tasks import Task

JUDGES = {"logistic": "logistic regression", "head": "the linear head that ours goes by"}


@dataclass(frozen=True)
class Plan:
    """How labels are bought; settled before anything was measured."""

    seeds: int = 5
    pool: int = 800
    first: int = 20
    batch: int = 20
    rounds: int = 5

    @property
    def labels(self) -> list[int]:
        """How many there are after every round, the beginning first."""
        return [self.first + self.batch * done for done in range(self.rounds + 1)]


def bought(task: Task, plan: Plan, seed: int) -> dict[str, Any]:
    """Accuracies of every strategy and judge: {strategy: {judge: [after no round, one, two, …]}}."""
    pool = task.draw(plan.pool, np.random.default_rng([seed, 0]))
    first = pool.first(plan.first, np.random.default_rng([seed, 1]))
    return {name: _one(pool, plan, name, State(pool.X, pool.y, first, _rng(seed))) for name in STRATEGIES}


def _one(pool: Task, plan: Plan, name: str, state: State) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {judge: [] for judge in JUDGES}
    for done in range(plan.rounds + 1):
        found["logistic"].append(state.right_by_logistic(pool.X_test, pool.y_test))
        found["head"].append(state.right_by_head(pool.X_test, pool.y_test))
        if done < plan.rounds:
            more = state.rest[STRATEGIES[name](state, plan.batch)]
            state = State(pool.X, pool.y, np.concatenate([state.labelled, more]), state.rng)
    return found


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 2])
