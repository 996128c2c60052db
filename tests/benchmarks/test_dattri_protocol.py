"""dattri's benchmark made again: its measures by hand, and trainings side by side against a plain loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from benchmarks.real_training.dattri_protocol import (
    Truths,
    agreement,
    ceiling,
    half,
    mean_spearman,
    of_other_seeds,
    truths,
)
from benchmarks.real_training.dattri_training import Digits, Recorder, Setting, train
from benchmarks.real_training.side_by_side import train_all


def _network() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))


SETTINGS = (
    Setting("linear", lambda: nn.Linear(6, 3), batch=8, epochs=3),
    Setting("network", _network, batch=8, epochs=3, momentum=0.9),
)


@pytest.fixture
def data() -> Digits:
    generator = torch.Generator().manual_seed(0)
    X, queries = torch.randn(30, 6, generator=generator), torch.randn(5, 6, generator=generator)
    return Digits(X, torch.arange(30) % 3, queries, torch.arange(5) % 3)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("shuffled", [False, True])
def test_side_by_side_is_the_plain_loop(setting: Setting, shuffled: bool, data: Digits) -> None:
    kept = torch.tensor([[at for at in range(30) if at != left] for left in (0, 13, 29)])
    seeds = [4, 5, 6] if shuffled else [4, 4, 4]
    outputs = train_all(setting, data, seeds, kept, shuffled=shuffled).outputs(data.X_query)
    for seed, rest, found in zip(seeds, kept, outputs, strict=True):
        model = train(setting, data, seed, rest.tolist(), shuffled=shuffled)
        np.testing.assert_allclose(data.losses_of(found), data.losses(model), atol=1e-5)


def test_seeds_are_one_or_all_different(data: Digits) -> None:
    with pytest.raises(ValueError, match="another for each"):
        train_all(SETTINGS[0], data, [1, 1, 2], torch.arange(30).expand(3, -1), shuffled=True)


def test_recording_is_told_of_every_step_and_changes_nothing(data: Digits) -> None:
    told: list[tuple[list[int], int]] = []

    class Listening(Recorder):
        def step(self, batch: Tensor, outputs: Tensor) -> None:
            told.append((batch.tolist(), len(outputs)))

    def recording(model: nn.Module, optimizer: Optimizer) -> Recorder:
        torch.rand(5)  # as what is made may draw numbers
        return Listening()

    setting = SETTINGS[1]
    followed = train(setting, data, 3, [9, 2, 5], recording=recording)
    assert told == [([9, 2, 5], 3)] * setting.epochs
    np.testing.assert_array_equal(data.losses(followed), data.losses(train(setting, data, 3, [9, 2, 5])))


def test_truths_are_kept_and_found(data: Digits, tmp_path: Path) -> None:
    def found(setting: Setting) -> Truths:
        return truths(setting, data, tmp_path, left_out=4, halves=3, runs=2)

    first = found(SETTINGS[0])
    assert first.samples == (0, 10, 19, 29)
    assert first.without.shape == (4, 5)
    assert first.halves.shape == (2, 3, 5)
    (tmp_path / "half-1-1.npy").unlink()  # trained again alone
    again = found(replace(SETTINGS[0]))
    np.testing.assert_allclose(again.halves, first.halves, atol=1e-6)
    untrained = found(replace(SETTINGS[0], epochs=0))
    np.testing.assert_array_equal(untrained.without, first.without)


def test_agreement_of_a_case_made_by_hand() -> None:
    """Losses that add up from the samples inside: their own effects agree fully, turned round not at all."""
    effects = np.random.default_rng(0).normal(size=(12, 4))
    subsets = np.stack([half(seed, 12) for seed in range(8)])
    without = effects[[1, 5, 7]]
    halves = np.array([[-sum(effects[at, query] for at in subset) for query in range(4)] for subset in subsets])
    exact = Truths(np.zeros(4), (1, 5, 7), without, -without, subsets, np.stack([halves, halves]))
    assert (agreement(effects, exact).leave_one_out, agreement(effects, exact).halves) == pytest.approx((1.0, 1.0))
    assert agreement(-effects, exact).halves == pytest.approx(-1.0)
    assert (of_other_seeds(exact).leave_one_out, of_other_seeds(exact).halves) == pytest.approx((-1.0, 1.0))


def test_the_mean_of_several_runs_is_closer_to_what_knows_no_seed() -> None:
    """By as much as `ceiling` says: a common part, and noise of each run."""
    rng = np.random.default_rng(0)
    known = rng.normal(size=(400, 50))
    runs = known + rng.normal(size=(5, 400, 50))
    subsets = np.zeros((400, 1), dtype=np.int64)
    true = Truths(np.zeros(50), (0,), rng.normal(size=(3, 50)), rng.normal(size=(3, 50)), subsets, runs)
    alike = of_other_seeds(true).halves
    for count in (1, 5):
        found = mean_spearman(known, runs[:count].mean(axis=0))
        assert found == pytest.approx(ceiling(alike, count), abs=0.02)  # ranks agree a little less than numbers


def test_columns_without_differences_are_left_out() -> None:
    said = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    assert mean_spearman(said, np.array([[1.0, 1.0], [3.0, 2.0], [2.0, 3.0]])) == pytest.approx(0.5)
