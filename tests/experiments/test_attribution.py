from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from uniqueinfo.experiments import attribution
from uniqueinfo.experiments.attribution import _Moved
from uniqueinfo.experiments.runner import Request
from uniqueinfo.training import GradientDescent


def test_the_correlation_is_numpys_over_all_pairs() -> None:
    said, real = np.random.default_rng(0).normal(size=(2, 6, 4))
    moved = _Moved(np.zeros((6, 4), dtype=int), said, real, said[:, 0], real[:, 0])
    assert moved.correlation.value == pytest.approx(np.corrcoef(said.ravel(), real.ravel())[0, 1])
    assert moved.correlation_together.value == pytest.approx(np.corrcoef(said[:, 0], real[:, 0])[0, 1])


def test_signs_that_agree_are_counted() -> None:
    said = np.array([[1.0, -2.0], [3.0, 1.0]])
    moved = _Moved(np.zeros((2, 2), dtype=int), said, said * [[1, 1], [1, -1]], said[:, 0], -said[:, 0])
    assert moved.signs.value == 0.75
    assert moved.signs_together.value == 0


@pytest.mark.slow
def test_named_samples_move_a_wide_network_nearly_as_said(
    made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(attribution._SIZES, "small", {"samples": 12, "hidden": 512, "looked_at": 4})
    monkeypatch.setattr(attribution, "_TOP", 5)
    monkeypatch.setattr(attribution, "_TRAINING", GradientDescent(lr=1e-4, steps=20))
    result = attribution.run(Request(data=made_up, work=tmp_path))
    assert len(result.table) == 4 * 5 + 4
    alone = result.table[~result.table["removed"].str.startswith("all")]
    together = result.table[result.table["removed"] == "all 5"]
    for part, claims in ((alone, result.claims[:2]), (together, result.claims[2:])):
        assert claims[0].ours == (np.sign(part["said"]) == np.sign(part["real"])).mean()
        assert claims[1].ours == pytest.approx(part["said"].corr(part["real"]))
        assert np.abs(part["said"] - part["real"]).max() < 0.1 * np.abs(part["said"]).max()  # little training
