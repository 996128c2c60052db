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
        ({"training": ui.Converged(0.1)}, "validate GradientDescent with many steps"),
        ({"samples": 5}, "expected 10 to 40"),
        ({"samples": 41}, "expected 10 to 40"),
        ({"samples": [1, 1, 2]}, "different positions"),
    ],
)
def test_what_cannot_be_validated_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ui.InputError, match=said):
        validate(wide(), data(), **({"training": TRAINING} | wrong))
