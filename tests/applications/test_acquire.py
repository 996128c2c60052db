"""What to label next, against training again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from uniqueinfo.applications.acquire import acquire
from uniqueinfo.types import Floats

RNG = np.random.default_rng
TRAINING = ui.Converged(0.05)


def _head(outputs: int) -> dict[str, Any]:
    rng = RNG(0)
    X = rng.normal(size=(24, 4))
    return {"X": X, "y": np.arange(24) % outputs, "X_val": rng.normal(size=(9, 4)), "training": TRAINING}


@pytest.fixture
def candidates() -> Floats:
    """Of which the second repeats the first."""
    found = RNG(1).normal(size=(6, 4))
    found[1] = found[0]
    return found


def _outputs(train: Floats, targets: Floats, X: Floats) -> Floats:
    """What a ridge regression with the head's intercept says, by the normal equations."""
    scores = ui.score_features(train, targets, training=TRAINING)
    run = scores.origin.run
    return run.outputs(run.linearization.probe(X))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_sample_tells_the_mean_over_its_predicted_classes(classes: int, candidates: Floats) -> None:
    given = _head(classes)
    scores = ui.score_features(**given)
    found = acquire(scores, candidates, budget=1)
    targets = given["y"][:, None].astype(float) if classes == 2 else np.eye(classes)[given["y"]]
    before = _outputs(given["X"], targets, given["X_val"])
    said = _outputs(given["X"], targets, candidates)
    intercept = scores.origin.run.linearization.intercept
    for at in range(len(candidates)):
        outputs = np.array([1 - said[at, 0], said[at, 0]]) if classes == 2 else said[at]
        wanted = 0.0
        for label, probability in enumerate(_simplex(outputs)):
            more = [[float(label)]] if classes == 2 else np.eye(classes)[[label]]
            X, y = np.vstack([given["X"], candidates[[at]]]), np.vstack([targets, more])
            after = _ridge(X, y, given["X_val"], intercept, scores)
            wanted += probability * np.square(after - before).sum() / (2 * len(given["X_val"]))
        assert found.alone[at] == pytest.approx(wanted, rel=1e-8)


def _simplex(outputs: Floats) -> Floats:
    """The nearest probabilities, by bisection for what comes off."""
    low, high = outputs.min() - 1, outputs.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(outputs - middle, 0).sum() > 1 else (low, middle)
    found: Floats = np.maximum(outputs - low, 0)
    return found


def _ridge(X: Floats, y: Floats, X_val: Floats, intercept: float, scores: ui.Scores) -> Floats:
    """By the normal equations, with the start and the intercept of the scores' own head."""
    linearization = scores.origin.run.linearization
    start = np.zeros(y.shape[1]) if linearization.start is None else linearization.start.numpy()
    one, two = (np.column_stack([part, np.full(len(part), intercept)]) for part in (X, X_val))
    if not intercept:
        one, two = X, X_val
    decay = TRAINING.weight_decay * len(X)
    w = np.linalg.solve(one.T @ one + decay * np.eye(one.shape[1]), one.T @ (y - start))
    found: Floats = start + two @ w
    return found


def test_numbers_spread_as_leave_one_out_errors_do(candidates: Floats) -> None:
    given = _head(2) | {"y": RNG(3).normal(size=24)}
    scores = ui.score_features(**given)
    linearization = scores.origin.run.linearization
    said = scores.origin.run.outputs(linearization.probe(candidates))[:, 0]
    spread = float(np.square(scores.targets - scores.loo_outputs).mean() ** 0.5)
    before = scores.origin.run.outputs(scores.origin.probe)
    found = acquire(scores, candidates, budget=2)
    for at in range(len(candidates)):
        moved = []
        for sign in (-1, 1):  # two values have the mean and the spread that are asked for
            X, y = np.vstack([given["X"], candidates[[at]]]), np.append(given["y"], said[at] + sign * spread)
            after = _ridge(X, y[:, None], given["X_val"], linearization.intercept, scores)
            moved.append(np.square(after - before).sum() / (2 * len(given["X_val"])))
        assert found.alone[at] == pytest.approx(np.mean(moved), rel=1e-8)


def test_what_repeats_an_earlier_choice_comes_later() -> None:
    given = _head(3) | {"y": RNG(3).normal(size=24)}  # numbers, whose spread is the same everywhere
    scores, apart = ui.score_features(**given), 8 * np.eye(4)
    most = acquire(scores, apart, budget=1).chosen
    found = acquire(scores, np.vstack([apart[most], apart[most], np.delete(apart, most, axis=0)]), budget=3)
    assert set(np.argsort(-found.alone)[:2]) == {0, 1}
    assert found.chosen[0] in (0, 1)
    assert found.chosen[1] not in (0, 1)
    everyone = found.frame(everyone=True)
    assert sorted(everyone["id"]) == list(range(5))
    assert everyone["gain"].notna().sum() == 3
    assert found.frame()["gain"].sum() == pytest.approx(found.information[-1])


def test_networks_by_rows_and_by_exact_kernels_choose_alike() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3))
    X, pool = RNG(0).normal(size=(20, 6)).astype(np.float32), RNG(1).normal(size=(8, 6)).astype(np.float32)
    data = (X, np.arange(20) % 3), (X[:7], np.arange(7) % 3)
    kernels = ui.score(network, *data, training=TRAINING)
    rows = ui.score(network, *data, training=TRAINING, projection=ui.RandomCoordinates(10_000))
    assert kernels.settings["projection"] == "None"
    found, wanted = acquire(kernels, pool, budget=4), acquire(rows, pool, budget=4)
    assert found.chosen.tolist() == wanted.chosen.tolist()
    np.testing.assert_allclose(found.information, wanted.information, rtol=1e-4)  # rows are float32


def test_sources_are_told_what_the_best_of_each_would_add(candidates: Floats) -> None:
    scores = ui.score_features(**_head(3))
    by = ["web", "web", "lab", "lab", "lab", "lab"]
    found = acquire(scores, candidates, budget=3, by=by)
    assert found.sources is not None
    table = found.sources.set_index("group")
    assert table["chosen"].sum() == 3
    assert (table["candidates"]["web"], table["best"]["web"]) == (2, 2)
    lab = acquire(scores, candidates[2:], budget=3)
    assert table["whole"]["lab"] == pytest.approx(lab.information[-1], rel=1e-9)
    assert "of one source alone" in found.sentence
    assert found.as_json()["sources"][0]["group"] == found.sources["group"][0]


def test_as_many_at_random_tell_less() -> None:
    scores = ui.score_features(**_head(3))
    found = acquire(scores, RNG(5).normal(size=(200, 4)), budget=5)
    assert found.at_random < found.information[-1]
    assert f"{found.at_random:.3g}" in found.sentence


def test_descent_that_could_diverge_goes_by_flow(candidates: Floats) -> None:
    scores = ui.score_features(**_head(3) | {"training": ui.GradientDescent(lr=0.3, steps=50)})
    assert not acquire(scores, candidates, budget=2).by_flow
    found = acquire(scores, 200 * candidates, budget=2)
    assert found.by_flow
    assert "gradient flow" in found.sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 7}, "how many of the 6 candidates"),
        ({"budget": 0}, "how many of the 6 candidates"),
        ({"by": "source"}, "there are no columns to group by"),
        ({"by": ["web"]}, "a group for each of the 6 samples"),
    ],
)
def test_bad_settings_are_named(options: dict[str, Any], message: str, candidates: Floats) -> None:
    with pytest.raises(ui.InputError, match=message):
        acquire(ui.score_features(**_head(3)), candidates, **options)


def test_each_its_own_source_is_refused() -> None:
    with pytest.raises(ui.InputError, match="at most 50"):
        acquire(ui.score_features(**_head(3)), RNG(0).normal(size=(60, 4)), by=list(range(60)))


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (ui.Converged(0.1, loss="cross-entropy"), "under squared error alone"),
        (ui.Converged(), "add a little decay"),
    ],
)
def test_trainings_that_nothing_can_be_added_to_are_refused(
    training: ui.Converged, message: str, candidates: Floats
) -> None:
    with pytest.raises(ui.InputError, match=message):
        acquire(ui.score_features(**_head(3) | {"training": training}), candidates)


def test_the_figure_shows_the_batch_and_the_sum_of_each_alone(candidates: Floats) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = acquire(ui.score_features(**_head(3)), candidates, budget=3).plot()
    assert [np.size(line.get_xdata()) for line in axes.lines] == [3, 3, 1]
    matplotlib.pyplot.close(axes.figure)


def test_an_export_has_the_columns_of_the_candidates(candidates: Floats) -> None:
    scores = ui.score_features(**_head(3))
    probe = scores.origin.run.linearization.probe(candidates)
    columns = pd.DataFrame({"city": list("abcdef"), "predicted": [9] * 6})
    found = acquire(scores, type(probe)(**vars(probe) | {"columns": columns}), budget=2, by="city")
    exported = found.chosen_frame()
    assert exported["city"].tolist() == [list("abcdef")[at] for at in found.chosen]
    assert 9 not in exported["predicted"].tolist()


def test_of_classes_the_least_decided_are_looked_at() -> None:
    scores = ui.score_features(**_head(3))
    pool = 3 * RNG(5).normal(size=(200, 4))
    found = acquire(scores, pool, budget=4)
    outputs = np.sort([_simplex(one) for one in scores.origin.run.outputs(scores.origin.run.linearization.probe(pool))])
    near = np.argsort(outputs[:, -1] - outputs[:, -2], kind="stable")[:24]
    assert np.isin(found.chosen, near).all()
    among = acquire(scores, pool[np.sort(near)], budget=4)
    np.testing.assert_array_equal(found.chosen, np.sort(near)[among.chosen])
    np.testing.assert_allclose(found.information, among.information)
    assert len(found.alone) == 200
