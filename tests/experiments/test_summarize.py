from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests import realdata
from tests.oracles.sgd import trained
from uniqueinfo.experiments import summarize
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.experiments.runner import Request
from uniqueinfo.experiments.summaries import Study, _Real, above, means
from uniqueinfo.training import GradientDescent, GradientFlow

TRAINING = GradientDescent(0.002, 2, momentum=0.9)
TINY = Study(summarize._ALL, (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), 2, TRAINING, samples=30, step=0.1)


def table() -> pd.DataFrame:
    """Two seeds, two strategies, one share."""
    rows = [("iterative", 0, 0.95), ("random", 0, 0.90), ("iterative", 1, 0.93), ("random", 1, 0.92)]
    return pd.DataFrame([{"strategy": s, "seed": n, "removed": 0.5, "retrained": a} for s, n, a in rows])


def test_strategies_are_compared_seed_by_seed() -> None:
    gain = above(table(), "iterative", "random", 0.5)
    assert gain.value == pytest.approx(0.03)
    spread = np.std([0.05, 0.01], ddof=1) / np.sqrt(2) * 12.706  # Student's t for one degree of freedom
    assert gain.low == pytest.approx(0.03 - spread, rel=1e-4)


def test_means_are_over_seeds() -> None:
    assert means(table(), "random")[0.5].value == pytest.approx(0.91)


def test_the_real_network_is_trained_as_torch_trains_it() -> None:
    torch.manual_seed(0)
    network = mlp(inputs=12, hidden=16)
    X, y = torch.randn(30, 12), (torch.rand(30, 1) > 0.5).float()
    kept = np.arange(0, 30, 2)
    training = GradientDescent(0.05, 40, momentum=0.9)
    found = _Real(network, (X, y), (X, y), training).accuracy(kept)
    again = trained(network, X, y, training, without=range(1, 30, 2))
    assert found == pytest.approx(float(((again(X) > 0.5) == (y > 0.5)).double().mean()))


def test_networks_along_flow_end_where_many_small_steps_do() -> None:
    torch.manual_seed(0)
    network = mlp(inputs=12, hidden=16).eval()
    X, y = torch.randn(30, 12), (torch.rand(30, 1) > 0.5).float()
    test = torch.randn(1000, 12), (torch.rand(1000, 1) > 0.5).float()
    along_flow = _Real(network, (X, y), test, GradientFlow(0.05, 60.0))
    assert along_flow.pace == ()
    for kept in (np.arange(30), np.arange(0, 30, 2)):  # the second follows the pace of the first
        in_steps = _Real(network, (X, y), test, GradientDescent(0.005, 600))
        # Flow and steps of a hundredth of the stable length part by 1 % or so: few of 1000 outputs change sides.
        assert along_flow.accuracy(kept) == pytest.approx(in_steps.accuracy(kept), abs=0.005)
        assert along_flow.pace


@pytest.mark.slow
def test_a_stopped_study_goes_on_from_its_finished_seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = realdata.path("mnist_4v9.npz").parent
    monkeypatch.setitem(summarize._STUDIES, "small", TINY)
    request = Request("small", folder, work=tmp_path)
    first = summarize.run(request)
    assert len(first.table) == 2 * 5 * 8
    assert set(first.table["seed"]) == {0, 1}
    assert [claim.what[:3] for claim in first.claims] == ["30%", "40%", "50%", "60%", "70%", "50%", "80%", "90%"]

    def never(*_: Any) -> pd.DataFrame:
        raise AssertionError("computed again")

    monkeypatch.setattr(Study, "_one_seed", never)
    again = summarize.run(request)
    np.testing.assert_allclose(again.table["retrained"], first.table["retrained"])
    assert [claim.what for claim in again.claims] == [claim.what for claim in first.claims]
