"""The runner of the benchmark: a peer that fails, or takes too much, is in the table with what became of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.peers.measures import against_truth
from benchmarks.peers.page import write_page
from benchmarks.peers.problem import Problem, network
from benchmarks.peers.running import Limits, run
from benchmarks.peers.truth import Truth

MIB = 2**20
LIMITS = Limits(seconds=60, memory=2048 * MIB)


@pytest.fixture(scope="module")
def given() -> Problem:
    generator = torch.Generator().manual_seed(0)
    X, X_val = (torch.randn(size, 40, generator=generator) for size in (30, 10))
    weights = {"0.weight": torch.ones(50, 40), "0.bias": torch.ones(50), "2.weight": torch.ones(1, 50)}
    y = torch.arange(30) % 2
    return Problem(X, y, X_val, y[:10], 2, 0.1, 20, weights, weights, [weights])


@pytest.fixture(scope="module")
def problem(given: Problem, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("problem")
    given.save(folder)
    return folder


def outcome(name: str, problem: Path, out: Path, limits: Limits = LIMITS) -> dict[str, Any]:
    return run(f"tests.benchmarks.madeup:{name}", Path(sys.executable), problem, out, limits)


def test_a_problem_comes_back_from_its_files(given: Problem, problem: Path) -> None:
    found = Problem.load(problem)
    for name in ("X", "y", "X_val", "y_val"):
        assert torch.equal(getattr(found, name), getattr(given, name))
    assert torch.equal(found.targets, given.y[:, None].float())
    assert (found.classes, found.lr, found.steps) == (given.classes, given.lr, given.steps)
    for back, kept in zip([found.start, found.trained, *found.between], [given.start] * 3, strict=True):
        assert all(torch.equal(back[name], tensor) for name, tensor in kept.items())


def test_the_tiny_problem_fits_its_network(given: Problem) -> None:
    tiny = given.tiny()
    assert network(tiny.trained)(tiny.X).shape == (len(tiny.y), 1)


@pytest.mark.slow
def test_a_method_is_measured_and_its_scores_kept(problem: Path, tmp_path: Path) -> None:
    found = outcome("sums", problem, tmp_path)
    assert 0 <= found["seconds"] < LIMITS.seconds
    assert 290 * MIB < found["peak"] < 400 * MIB  # it holds 300
    assert found["before"] > 20 * MIB
    with np.load(tmp_path / "scores.npz") as scores:
        np.testing.assert_allclose(scores["amount"], Problem.load(problem).X.sum(dim=1).numpy(), rtol=1e-6)


@pytest.mark.slow
def test_a_method_that_fails_is_reported_with_its_error(problem: Path, tmp_path: Path) -> None:
    assert outcome("fails", problem, tmp_path) == {"error": "ValueError: 30 samples are not enough"}


@pytest.mark.slow
def test_a_method_that_takes_too_long_is_stopped_and_reported(problem: Path, tmp_path: Path) -> None:
    found = outcome("spins", problem, tmp_path, Limits(seconds=1, memory=LIMITS.memory))
    assert found == {"error": "over 1 s", "slow": True}


@pytest.mark.slow
def test_a_method_that_takes_too_much_memory_is_reported(problem: Path, tmp_path: Path) -> None:
    assert "emory" in outcome("gathers", problem, tmp_path)["error"]


@pytest.mark.slow
def test_scores_that_are_not_one_for_each_sample_are_an_error(problem: Path, tmp_path: Path) -> None:
    assert "(29,)" in outcome("too_few", problem, tmp_path)["error"]


def test_what_was_reported_before_is_not_run_again(problem: Path, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"error": "earlier"}')
    assert outcome("sums", problem, tmp_path) == {"error": "earlier"}


def test_agreement_is_one_with_the_truth_itself() -> None:
    truth = Truth(np.array([4, 1, 2]), np.array([0.1, 0.5, 0.2]), np.array([-1.0, 0.0, 2.0]), 1.0)
    amount = np.zeros(5)
    amount[truth.samples] = truth.amount
    found = against_truth({"amount": amount}, truth)
    assert found["amount"]["spearman"][0] == pytest.approx(1)
    assert "value" not in found


@pytest.fixture
def results() -> dict[str, Any]:
    methods = [
        {
            "key": f"{package}-f",
            "package": package,
            "title": title,
            "score": "something",
            "note": "",
            "trained": package != "ours",
        }
        for package, title in (("ours", "Ours"), ("quick", "Quick"), ("broken", "Broken"))
    ]
    setting = {
        "title": "digits",
        "data": "mnist",
        "hidden": 1024,
        "noise": "none",
        "width": 800_000,
        "outputs": 1,
        "lr": 0.1,
        "steps": 10,
        "validation": 100,
    }
    retraining = {"left_out": 39, "seconds": 80.0}

    def done(seconds: float, spearman: float) -> dict[str, Any]:
        agreement = {"amount": {"spearman": [spearman, 0.1, 0.9], "pearson": [spearman, 0.1, 0.9]}}
        return {"seconds": seconds, "peak": 5 * MIB, "before": 100 * MIB, "agreement": agreement, "noise": None}

    runs = []
    for samples in (100, 200):
        name = f"n{samples}"
        runs += [
            {"setting": name, "method": "ours-f", **done(2.0, 0.8)},
            {"setting": name, "method": "quick-f", **done(0.5, 0.9)},
            {"setting": name, "method": "broken-f", "error": "ValueError: a | b"},
        ]
    return {
        "limits": {"seconds": 60, "memory": 2**30},
        "versions": {"torch": "2"},
        "packages": {"quick": ["quick==1"]},
        "machine": {"cores": 2},
        "ours": "ours",
        "methods": methods,
        "settings": [setting | {"name": f"n{n}", "samples": n, "retraining": retraining} for n in (100, 200)],
        "runs": runs,
    }


def page_of(results: dict[str, Any], folder: Path) -> str:
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    write_page(folder / "results.json", folder / "page.md")
    return (folder / "page.md").read_text(encoding="utf-8")


def test_the_page_has_a_line_for_a_peer_that_failed(results: dict[str, Any], tmp_path: Path) -> None:
    assert "| Broken | ValueError: a \\| b |" in page_of(results, tmp_path)


def test_the_page_names_who_is_quicker_and_closer(results: dict[str, Any], tmp_path: Path) -> None:
    page = page_of(results, tmp_path)
    assert "quicker: Quick (0.50 s)." in page
    assert "closer: Quick (0.900)" in page
    for line in results["runs"]:
        if line["method"] == "quick-f":
            line["seconds"] = 3.0
    assert "quicker: no one." in page_of(results, tmp_path)


def test_the_page_counts_a_training_for_those_that_need_one(results: dict[str, Any], tmp_path: Path) -> None:
    page = page_of(results, tmp_path)
    assert "| Quick | 0.50 s | 2.50 s | 0.25 |" in page
    assert "Quicker with training: no one." in page


def test_every_figure_of_the_page_is_there(results: dict[str, Any], tmp_path: Path) -> None:
    page = page_of(results, tmp_path)
    drawn = sorted(path.name for path in (tmp_path / "page").glob("*.png"))
    assert drawn == ["agreement.png", "memory-samples.png", "time-samples.png", "time-width.png"]
    assert all(f"(page/{name})" in page for name in drawn)
