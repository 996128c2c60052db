"""How well scores agree with exact ones is measured on the user's own samples, and said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.oracles.compare import close
from uniqueinfo.scoring.agreement import MEASURES, told_effort

TIGHT = "0.0005s"  # so that less than all of the small network is kept


def data(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(n, 5, generator=generator)
    return X, (X[:, :3] + 0.5 * torch.randn(n, 3, generator=generator)).argmax(dim=1)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 40), nn.Tanh(), nn.Linear(40, 3))


def scored(effort: str = TIGHT, n: int = 60, **options: Any) -> ui.Scores:
    return ui.score(network(), data(n, 0), data(30, 1), effort=effort, progress=False, **options)


def test_on_all_samples_it_is_the_correlation_with_exact_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniqueinfo.scoring.agreement._SHARE", 1e9)
    training = ui.GradientFlow(0.05, 200.0)
    found, exact = scored(training=training), scored("exact", training=training)
    assert found.settings["output_average"] is not None
    assert exact.settings["agreement"] is None
    expected = {name: spearmanr(getattr(found, name), getattr(exact, name)).statistic for name in MEASURES}
    told = found.settings["agreement"]
    assert told["samples"] == 60
    for name in MEASURES:
        assert abs(told[name] - expected[name]) <= 0.0005  # rounded to three digits


def test_samples_are_as_many_as_a_share_of_the_effort_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for share in (1e-3, 50.0, 1e9):
        monkeypatch.setattr("uniqueinfo.scoring.agreement._SHARE", share)
        found.append(scored(n=320).settings["agreement"]["samples"])
    assert found[0] == 0 < found[1] < found[2] == 300


def test_the_same_effort_gives_the_same_bits() -> None:
    one, other = (scored(threads=1) for _ in range(2))
    for name in MEASURES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.settings["agreement"] == other.settings["agreement"]


def test_what_was_chosen_can_be_asked_for() -> None:
    chosen = scored(threads=1)
    asked = scored("exact", threads=1, projection=None, outputs=ui.OutputAverage(3))
    assert chosen.settings["output_average"] == "OutputAverage(size=3, seed=0)"
    np.testing.assert_array_equal(asked.functional, chosen.functional)


def test_weights_drawn_where_the_kernel_is_are_drawn_for_the_network() -> None:
    found = scored(projection=ui.KernelCoordinates(60))
    assert 30 < found.settings["width"] < 90
    everything = scored(projection=ui.KernelCoordinates(10_000), training=ui.Converged(0.1))
    exact = scored(projection=None, training=ui.Converged(0.1))
    close(everything.functional, exact.functional, rtol=1e-3)
    with pytest.raises(ui.InputError, match="hand them to score"):
        ui.KernelCoordinates(5).layout({}, torch.device("cpu"))


def test_a_sentence_says_what_was_chosen_and_what_it_costs() -> None:
    assert told_effort(scored("exact").settings) is None
    assert told_effort({}) is None
    said = told_effort(
        {"effort": "minutes", "projection_why": "less: more", "agreement": {"samples": 200, "functional": 0.984}}
    )
    assert said == (
        "Effort minutes: less: more. On 200 of your samples, scored alone, ranks agree with exact ones by .98 "
        '(functional). effort="exact" keeps all.'
    )
    untold = told_effort({"effort": "2s", "projection_why": "less", "agreement": {"samples": 0, "why": "too long"}})
    assert untold == "Effort 2s: less. How well that agrees with exact scores is not known: too long."


def test_the_command_line_says_it(tmp_path: Any, uniqueinfo: Caller) -> None:
    for name, (X, y) in (("train", data(60, 0)), ("val", data(30, 1))):
        np.savez(tmp_path / f"{name}.npz", X=X.numpy(), y=y.numpy())
    common = ["score", tmp_path / "train.npz", "--val", tmp_path / "val.npz", "--model", "mlp:40"]
    answer = uniqueinfo(*common, "--effort", TIGHT, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert "outputs taken to be alike" in " ".join(answer.out.split())
    assert ui.load(tmp_path / "run").settings["effort"] == TIGHT
    refused = uniqueinfo(*common, "--effort", "days", "--out", tmp_path / "other")
    assert refused.code != 0
    assert 'effort: expected "seconds"' in " ".join(refused.err.split())


def test_few_samples_are_trained_as_all_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniqueinfo.scoring.agreement._SHARE", 1e9)
    found = scored()
    stopped = ui.GradientDescent(found.settings["training"]["lr"], found.settings["training"]["steps"])
    again = scored(training=stopped)
    assert found.settings["agreement"] == again.settings["agreement"]
