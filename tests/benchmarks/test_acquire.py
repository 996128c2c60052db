"""Labels bought in a small size, and the page that tells of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.acquire.__main__ import measured
from benchmarks.acquire.buying import JUDGES, Plan
from benchmarks.acquire.page import write_page
from benchmarks.acquire.strategies import OURS, STRATEGIES, State
from benchmarks.acquire.tasks import small_task

PLAN = Plan(seeds=2, pool=80, first=20, batch=5, rounds=1)


@pytest.fixture
def state() -> State:
    """Three bought labels of two classes on a line, and candidates between and beyond."""
    X = np.array([[-1.0], [1.0], [1.1], [0.02], [3.0], [3.1], [0.9]])
    return State(X, np.array([0, 1, 1, 0, 1, 1, 1]), np.array([0, 1, 2]), np.random.default_rng(0))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_chooses_as_many_as_are_asked_for(name: str, state: State) -> None:
    found = STRATEGIES[name](state, 2)
    assert len(np.unique(found)) == 2
    assert set(found) <= set(range(4))


def test_peers_choose_what_they_are_known_for(state: State) -> None:
    assert STRATEGIES["margin"](state, 1).tolist() == STRATEGIES["entropy"](state, 1).tolist() == [0]
    assert STRATEGIES["k-center"](state, 2).tolist() == [2, 0]


@pytest.mark.slow
def test_what_was_bought_is_told(tmp_path: Path) -> None:
    task = small_task()
    found = measured(task, PLAN, tmp_path)
    assert {len(seed[OURS][judge]) for seed in found for judge in JUDGES} == {2}
    assert len({tuple(seed[name]["logistic"][:1]) for name in STRATEGIES for seed in found[:1]}) == 1  # one beginning
    assert measured(task, PLAN, tmp_path) == found
    page = tmp_path / "docs" / "acquire.md"
    write_page({"plan": asdict(PLAN), "labels": PLAN.labels, "accuracy": {task.name: found}}, page)
    said = page.read_text(encoding="utf-8")
    assert all(f"| {name} |" in said for name in STRATEGIES)
    mean = np.mean([seed["entropy"]["logistic"][-1] for seed in found])
    assert f"| entropy | {mean:.3f} [" in said
    assert (tmp_path / "docs" / "acquire" / "accuracy.png").stat().st_size > 5_000
