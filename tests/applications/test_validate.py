"""Validation: does it notice what is right, and what is wrong?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from tests.oracles.compare import close
from tests.oracles.sgd import trained
from uniqueinfo.applications.validate import validate
from uniqueinfo.baselines.descent import Descent
from uniqueinfo.baselines.planning import Speed

TRAINING = ui.GradientDescent(lr=0.02, steps=60)


def wide() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 512), nn.Tanh(), nn.Linear(512, 1))


def narrow() -> nn.Module:
    """Few units, started small: it learns its features, which its linearization cannot."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.1)
    return model


def data(n: int = 40, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(n, 4, generator=generator)
    return X, (X[:, 0] * X[:, 1] > 0).long()


def test_a_wide_network_is_trusted() -> None:
    found = validate(wide(), data(), data(20, seed=1), TRAINING, progress=False)
    assert len(found.samples) == 12
    for name in ("weight", "functional", "value"):
        assert found.pearson[name].value > 0.97
    assert found.distance.max() < 0.1
    assert "agree closely" in found.sentence


@pytest.mark.slow
def test_a_network_that_learns_features_is_not() -> None:
    training = ui.GradientDescent(lr=1.5, steps=900)
    found = validate(narrow(), data(), data(20, seed=1), training, progress=False)
    assert found.spearman["functional"].value < 0.9
    assert found.distance[-1] > 0.5
    assert "closely" not in found.sentence
    assert "trained=…" in found.sentence
    assert "trained=…" not in replace(found, at_both_ends=True).sentence


def test_a_linear_network_is_its_linearization() -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 1).double()
    X, y = data()
    found = validate(model, (X.double(), y), None, ui.GradientDescent(0.1, 100, weight_decay=0.1, momentum=0.5))
    close(found.distance, np.zeros(len(found.times)), atol=1e-9)
    close(found.predicted["functional"], found.retrained["functional"], rtol=1e-6)


def test_the_distance_is_between_the_loop_and_the_linearized_outputs() -> None:
    model, (X, y), (V, v) = wide(), data(), data(20, seed=1)
    found = validate(model, (X, y), (V, v), TRAINING)
    for place in (0, -1):
        steps = replace(TRAINING, steps=int(found.times[place]))
        real = trained(model, X, y[:, None].float(), steps)(V).detach().numpy()
        linearization = ui.linearize(model, (X, y), (V, v))
        linear = linearization.train(steps).outputs(linearization.validation)
        wanted = np.linalg.norm(real - linear) / np.linalg.norm(linear - model(V).detach().numpy())
        # float32 outputs: after one step they moved by 1e-2 only
        assert found.distance[place] == pytest.approx(wanted, rel=1e-2, abs=1e-4)
    assert (found.times[0], found.times[-1]) == (1, 60)


def test_samples_come_from_every_part_of_the_scores() -> None:
    model, train, val = wide(), data(), data(20, seed=1)
    scores = ui.score(model, train, val, training=TRAINING)
    found = validate(model, train, val, TRAINING, samples=10, scores=scores)
    assert scores.functional is not None
    rank = np.argsort(np.argsort(scores.functional))[found.samples]
    np.testing.assert_array_equal(rank // 4, np.arange(10))
    np.testing.assert_array_equal(found.predicted["functional"], scores.functional[found.samples])


def test_samples_can_be_named() -> None:
    found = validate(wide(), data(), training=TRAINING, samples=[5, 3, 8])
    assert found.samples.tolist() == [5, 3, 8]


def test_flow_is_followed() -> None:
    flow = ui.GradientFlow(lr=0.02, time=20.0)
    found = validate(wide(), data(), data(20, seed=1), flow)
    assert (found.training, found.times[-1]) == (flow, flow.time)
    assert found.pearson["functional"].value > 0.97
    assert found.distance.max() < 0.1


def logits() -> nn.Module:
    """Wide, with a last layer that starts small: it moves little, so that it follows its linearization."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 1024), nn.Tanh(), nn.Linear(1024, 3))
    with torch.no_grad():
        list(model.parameters())[2].mul_(0.3)
    return model


def three(n: int, seed: int) -> tuple[Tensor, Tensor]:
    X, _ = data(n, seed)
    return X, (X[:, :3] * 2).argmax(dim=1)


@pytest.mark.parametrize(
    "training",
    [
        ui.GradientDescent(0.01, 60, loss="cross-entropy"),
        ui.GradientFlow(0.01, 60.0, weight_decay=0.01, loss="cross-entropy"),
    ],
    ids=["descent", "flow"],
)
def test_another_loss_is_trained_again_by(training: Any) -> None:
    found = validate(logits(), three(30, 0), three(20, 1), training, samples=10, progress=False)
    assert found.training == training
    for name in ("weight", "functional", "value"):
        assert found.pearson[name].value > 0.97
    assert found.distance.max() < 0.1


def test_the_distance_under_cross_entropy_is_between_the_loop_and_the_linearized_outputs() -> None:
    model, train, val = logits(), three(30, 0), three(20, 1)
    training = ui.GradientDescent(0.02, 40, loss="cross-entropy")
    found = validate(model, train, val, training, samples=[0, 1, 2], progress=False)
    linearization = ui.linearize(model, train, val)
    for place in (len(found.times) // 2, -1):
        steps = replace(training, steps=int(found.times[place]))
        real = trained(model, train[0], torch.eye(3)[train[1]], steps)(val[0]).detach().numpy()
        linear = linearization.train(steps).outputs(linearization.validation)
        wanted = np.linalg.norm(real - linear) / np.linalg.norm(linear - model(val[0]).detach().numpy())
        # the linearized outputs are followed in stretches, to 1e-4 of how far they move; others are float32
        assert found.distance[place] == pytest.approx(wanted, rel=0.05, abs=1e-3)


def test_scores_by_auto_under_cross_entropy_are_validated() -> None:
    model, train, val = logits(), three(30, 0), three(20, 1)
    auto = ui.Auto(loss="cross-entropy")
    scores = ui.score(model, train, val, training=auto)
    found = validate(model, train, val, auto, scores=scores, samples=[0, 1, 2], progress=False)
    assert found.training.settings() == scores.settings["training"]


def test_the_training_chosen_by_itself_is_the_one_retrained() -> None:
    model, train = wide(), data()
    scores = ui.score(model, train, train)
    found = validate(model, train, train, scores=scores, samples=10)
    chosen = scores.settings["training"]
    assert found.training == ui.GradientDescent(chosen["lr"], chosen["steps"])


def test_saved_scores_can_be_validated(tmp_path: Path) -> None:
    model, train, val = wide(), data(), data(20, seed=1)
    scores = ui.score(model, train, val, training=TRAINING)
    found = validate(model, train, val, scores=ui.load(scores.save(tmp_path)), samples=10)
    fresh = validate(model, train, val, scores=scores, samples=10)
    assert found.pearson == fresh.pearson
    close(found.distance, fresh.distance, rtol=1e-6)


def test_it_is_kept_as_json_and_as_a_table() -> None:
    found = validate(wide(), data(), training=TRAINING, samples=10)
    again = json.loads(json.dumps(found.as_json()))
    assert again["sentence"] == found.sentence
    assert again["pearson"]["functional"]["value"] == found.pearson["functional"].value
    frame = found.frame()
    assert list(frame.columns[:3]) == ["id", "functional", "functional_retrained"]
    assert frame.index.tolist() == found.samples.tolist()


def test_it_is_drawn() -> None:
    from matplotlib.figure import Figure

    found = validate(wide(), data(), training=TRAINING, samples=10)
    left, right = Figure().subplots(1, 2)
    assert len(found.plot(left).collections[0].get_offsets()) == 10  # type: ignore[arg-type]
    line = found.plot_distance(right).lines[0]
    np.testing.assert_array_equal(line.get_ydata(), found.distance)


def test_scores_of_another_training_are_refused() -> None:
    model, train = wide(), data()
    scores = ui.score(model, train, train, training=TRAINING)
    with pytest.raises(ui.InputError, match="leave one of the two out"):
        validate(model, train, train, replace(TRAINING, steps=61), scores=scores)


@pytest.mark.parametrize("outputs", [None, ui.OutputSketch(1)])
def test_scores_that_cannot_be_retrained_for_are_refused(outputs: ui.OutputSketch | None) -> None:
    model, (X, y) = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), data()
    if outputs is None:
        scores = ui.score_features(X, y, X, training=TRAINING)
    else:
        scores = ui.score(model, (X, y), (X, y), training=TRAINING, outputs=outputs)
    with pytest.raises(ui.InputError, match="whole network"):
        validate(model, (X, y), (X, y), TRAINING, scores=scores)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"training": ui.Converged(0.1)}, "use GradientDescent with many steps"),
        ({"samples": 5}, "expected 10 to 40"),
        ({"samples": 41}, "expected 10 to 40"),
        ({"samples": [1, 1, 2]}, "different positions"),
    ],
)
def test_what_cannot_be_validated_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ui.InputError, match=said):
        validate(wide(), data(), **({"training": TRAINING} | wrong))


def test_how_long_it_takes_is_told_before(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("uniqueinfo.baselines.again._WORTH_TELLING", 0.0)
    validate(wide(), data(), training=TRAINING, samples=10)
    assert "Training once with all samples and 10 times without one, 60 steps each: about" in capsys.readouterr().err


def test_a_budget_that_suffices_changes_nothing() -> None:
    found = validate(wide(), data(), training=TRAINING, samples=10, budget="1h")
    plain = validate(wide(), data(), training=TRAINING, samples=10)
    assert found.reduced == ()
    np.testing.assert_array_equal(found.samples, plain.samples)
    close(found.retrained["functional"], plain.retrained["functional"], rtol=1e-3)  # copies of another order, float32


def slowly(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Every gradient takes this long by the clocks, which stand still otherwise; copies are trained one by one."""
    clock = [0.0]

    def slope(self: Descent, *given: Any) -> Any:
        clock[0] += seconds
        return real(self, *given)

    real = Descent.slope
    monkeypatch.setattr(Descent, "slope", slope)
    monkeypatch.setattr(Descent, "copies", lambda self: 1)
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])


def test_within_a_budget_fewer_samples_leave_first(monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(monkeypatch, 1.0)  # 60 steps: twenty trainings take 21 minutes
    found = validate(wide(), data(), training=TRAINING, samples=20, budget="17m", progress=False)
    assert len(found.samples) == 12  # within four fifths of the budget
    assert found.reduced == ("12 samples in place of 20",)
    assert "To end in time: 12 samples in place of 20." in found.sentence
    assert (found.training, found.times[-1]) == (TRAINING, 60)


def test_then_fewer_steps_of_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(monkeypatch, 1.0)
    long = ui.GradientDescent(lr=0.02, steps=600)
    found = validate(wide(), data(), data(20, seed=1), long, samples=12, budget="45m", progress=False)
    assert found.reduced[-1].endswith("in place of 600 steps of gradient descent at rate 0.02, for the same time")
    assert found.times[-1] < 600 / 3
    plain = validate(wide(), data(), data(20, seed=1), long, samples=len(found.samples), progress=False)
    np.testing.assert_array_equal(found.samples, plain.samples)
    for name in ("functional", "weight"):
        assert np.corrcoef(found.retrained[name], plain.retrained[name])[0, 1] > 0.99
    assert found.distance[-1] == pytest.approx(plain.distance[-1], rel=0.1)


def test_a_budget_that_is_much_too_short_is_refused_before_training(monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(monkeypatch, 1.0)
    with pytest.raises(ui.InputError, match=r"budget: 1 min 0 s is too short. The least .* 10 trainings of"):
        validate(wide(), data(), training=TRAINING, budget="1m", progress=False)


@pytest.mark.parametrize(("factor", "done"), [(1.3, True), (4.0, False)])
def test_where_time_runs_out_what_is_done_counts(monkeypatch: pytest.MonkeyPatch, factor: float, done: bool) -> None:
    slowly(monkeypatch, 1.0)
    planned = Speed.seconds
    # steps turn out to take longer than the few that were timed
    monkeypatch.setattr(Speed, "seconds", lambda self, way, trainings: planned(self, way, trainings) / factor)
    if not done:
        with pytest.raises(ui.InputError, match=r"only \d of 14 trainings were finished"):
            validate(wide(), data(), training=TRAINING, samples=14, budget=900 / factor * 1.4, progress=False)
        return
    found = validate(wide(), data(), training=TRAINING, samples=14, budget=900 / factor * 1.26, progress=False)
    assert 10 <= len(found.samples) < 14
    assert found.reduced == (f"{len(found.samples)} of 14 trainings were finished",)
    assert (np.diff(found.predicted["functional"]) > 0).all()  # least first, as ever


def test_a_run_with_a_budget_is_gone_on_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slowly(monkeypatch, 1.0)
    asked: dict[str, Any] = {"training": TRAINING, "samples": 20, "budget": "17m", "progress": False}
    first = validate(wide(), data(), folder=tmp_path / "kept", **asked)
    monkeypatch.setattr(Descent, "train", lambda *given: pytest.fail("trained again"))
    again = validate(wide(), data(), folder=tmp_path / "kept", **asked)
    np.testing.assert_array_equal(again.retrained["functional"], first.retrained["functional"])


@pytest.mark.parametrize("budget", ["soon", "0m", -5, True])
def test_what_is_no_time_is_refused(budget: Any) -> None:
    with pytest.raises(ui.InputError, match="budget: "):
        validate(wide(), data(), training=TRAINING, budget=budget)
