"""What other losses are said to take; that it comes true is measured, not tested: there are no timed tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uniqueinfo as ui
from uniqueinfo.errors import InputError
from uniqueinfo.removal.learning import Expected
from uniqueinfo.runs import learning_cost as cost
from uniqueinfo.runs.estimate import plan
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.learning_cost import Cost, Sizes, learning_cost
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.training import Training

FLOW = ui.GradientFlow(0.1, 500.0, loss="cross-entropy")
SHAPE = Sizes(samples=100, validation=20, per_sample=1, columns=3, side=8)


def of(sizes: Sizes, training: Training = FLOW) -> Cost:
    return learning_cost(sizes, training, flops_per_second=1e10)


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock of its own: whatever is timed takes a second, and what looks at all pairs ten."""

    def seconds(work: Any) -> float:
        work()
        pairs = "everyone" in work.__code__.co_names
        return 10.0 if pairs else 1.0

    monkeypatch.setattr(cost, "_seconds", seconds)


@pytest.mark.parametrize(
    "training",
    [
        ui.Auto(loss="cross-entropy"),
        ui.Converged(0.01, loss="poisson"),
        ui.GradientDescent(0.1, 50, loss="huber"),
        ui.GradientFlow(0.1, 50.0, loss=lambda f, y: (f - y).square().sum(dim=1)),
    ],
    ids=lambda training: training.name,
)
@pytest.mark.parametrize("sizes", [SHAPE, Sizes(40, 0, 2, 1, 80), Sizes(3, 3, 1, 1, 2)], ids=["head", "dual", "tiny"])
def test_every_training_and_loss_has_a_cost(training: Training, sizes: Sizes) -> None:
    found = of(sizes, training)
    assert found.seconds > 0
    assert found.bytes > 8 * sizes.size**2


@pytest.mark.usefixtures("steady")
def test_pairs_of_samples_grow_with_their_square() -> None:
    times = cost._Times.of(SHAPE, FLOW)
    one, two = (Expected(0, 32, 6), Expected(0, 32, 1))
    assert times.leaving(200, one) - 6 * times.leaving(200, two) == pytest.approx(
        4 * (times.leaving(100, one) - 6 * times.leaving(100, two))
    )


@pytest.mark.usefixtures("steady")
def test_auto_takes_a_course_for_every_decay_besides() -> None:
    assert of(SHAPE, ui.Auto(loss="cross-entropy")).seconds > of(SHAPE).seconds + 4 * 40


def test_what_is_expected_is_about_what_happens() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.eye(3)[rng.integers(3, size=40)]
    for training in (FLOW, ui.GradientDescent(0.1, 20, loss="cross-entropy"), ui.Converged(0.01, loss="cross-entropy")):
        learnt = ui.Linearization.from_features(X, y).train(training).learnt
        assert learnt is not None
        found = Expected.of(training, 40, 12, 3)
        assert (found.passes > 1) == (learnt.passes > 1)
        assert found.stretches / 2 <= learnt.settings().get("stretches", 0) <= 2 * found.stretches


def test_a_plan_counts_another_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniqueinfo.runs.estimate._AFTER", 0.0)  # the scores alone, not the page
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(120, 10)), y=rng.integers(0, 3, 120))
    squared, entropy = (
        plan(prepare(Job(tmp_path / "a.npz", ModelChoice("linear"), training=training)))
        for training in (ui.Auto(), ui.Auto(loss="cross-entropy"))
    )
    assert entropy.seconds > 10 * squared.seconds
    assert entropy.memory_bytes > squared.memory_bytes


def test_what_cannot_be_followed_is_refused_before() -> None:
    with pytest.raises(InputError, match="20,000 weights at once"):
        of(Sizes(100_000, 10, 1, 10, 2000))
