"""Retraining against the loop a PyTorch user writes, and against closed forms where the network is linear."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from tests.oracles.compare import close
from tests.oracles.sgd import Truth, leave_out, trained
from uniqueinfo.baselines import descent
from uniqueinfo.baselines.descent import Descent
from uniqueinfo.baselines.planning import shorter
from uniqueinfo.baselines.retraining import Retrained, opened, retrain
from uniqueinfo.training import Reduction

TRAINING = ui.GradientDescent(lr=0.1, steps=25, weight_decay=0.03, momentum=0.8)


def network(outputs: int = 2) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 7), nn.Tanh(), nn.Linear(7, outputs)).double()


def data(n: int = 12, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 3, generator=generator, dtype=torch.float64), torch.arange(n) % 2


def by_the_loop(training: ui.GradientDescent, groups: list[list[int]], **settings: Any) -> Truth:
    one_hot = torch.eye(2, dtype=torch.float64)
    train, val = ((X, one_hot[y]) for X, y in (data(), data(5, seed=1)))
    return leave_out(network(), train, val, training, groups, **settings)


def same(found: Retrained, wanted: Retrained | Truth) -> None:
    # float64 trainings of the same steps differ by rounding alone: 1e-15 of outputs, whose differences are 1e-3
    close(found.weight, wanted.weight, rtol=1e-9)
    close(found.functional, wanted.functional, rtol=1e-9)
    close(found.value, wanted.value, rtol=1e-8)
    close(found.outputs_without, wanted.outputs_without, rtol=1e-10)
    close(found.outputs, wanted.outputs, rtol=1e-10)
    for name, values in wanted.trained.items():
        close(found.trained[name], values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("decay_to", ["start", "zero"])
def test_every_sample_leaves_as_in_the_loop(reduction: Reduction, decay_to: Any) -> None:
    training = replace(TRAINING, reduction=reduction, lr=0.1 if reduction == "mean" else 0.01)
    found = retrain(network(), data(), data(5, seed=1), training=training, decay_to=decay_to)
    same(found, by_the_loop(training, [[i] for i in range(12)], decay_to=decay_to))


@pytest.mark.parametrize("loss", ["cross-entropy", "huber", "poisson"])
@pytest.mark.parametrize("copies", [1, 4])
def test_every_loss_is_trained_by_as_in_the_loop(loss: str, copies: int) -> None:
    training = replace(TRAINING, loss=loss)
    found = retrain(network(), data(), data(5, seed=1), training=training, samples=range(4), copies=copies)
    same(found, by_the_loop(training, [[i] for i in range(4)]))


def test_a_loss_of_ones_own_is_trained_by() -> None:
    training, own = replace(TRAINING, loss="huber"), torch.nn.functional.huber_loss
    mine = replace(training, loss=lambda f, y: own(f, y, reduction="none").sum(dim=1))
    same(retrain(network(), data(), data(5, seed=1), training=mine), by_the_loop(training, [[i] for i in range(12)]))


def test_the_sharpness_is_that_of_the_loss() -> None:
    """Of a linear network with logits x ⊗ W it is the largest eigenvalue of the mean of (diag p − ppᵀ) ⊗ xxᵀ."""
    torch.manual_seed(0)
    X, y = data()
    model = nn.Linear(3, 3, bias=False).double()
    descent = Descent(model, X, torch.eye(3).double()[y], ui.GradientFlow(0.1, 5.0, loss="cross-entropy"))
    p = torch.softmax(model(X), dim=1).detach()
    A = p.diag_embed() - p[:, :, None] * p[:, None]
    H = torch.einsum("nkl,ni,nj->kilj", A, X, X).reshape(9, 9) / len(X)
    look = descent.sharpness()
    for _ in range(30):  # each goes on where the one before ended
        found = look({name: w[None] for name, w in descent.start.items()})
    assert found == pytest.approx(float(torch.linalg.eigvalsh(H)[-1]), rel=1e-3)


def test_targets_that_the_loss_has_no_meaning_for_are_refused() -> None:
    with pytest.raises(ui.InputError, match="targets must be classes"):
        retrain(network(1), (data()[0], torch.arange(12.0)), training=replace(TRAINING, loss="cross-entropy"))


def test_groups_leave_together() -> None:
    groups = [[0, 3, 5], [1], [2, 3, 4, 7, 8]]
    found = retrain(network(), data(), data(5, seed=1), training=TRAINING, groups=groups)
    same(found, by_the_loop(TRAINING, groups))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_sample_is_missing_from_its_batch_and_nothing_else_changes(reduction: Reduction) -> None:
    training = replace(TRAINING, reduction=reduction, lr=0.1 if reduction == "mean" else 0.005)
    generator = torch.Generator().manual_seed(7)
    batches = [part.tolist() for _ in range(9) for part in torch.split(torch.randperm(12, generator=generator), 5)]
    found = retrain(network(), data(), data(5, seed=1), training=training, batch_size=5, seed=7, samples=[4, 0])
    same(found, by_the_loop(training, [[4], [0]], batches=batches))


def test_copies_side_by_side_are_the_same_as_one_by_one() -> None:
    one = retrain(network(), data(), data(5, seed=1), training=TRAINING, copies=1)
    same(retrain(network(), data(), data(5, seed=1), training=TRAINING, copies=5), one)


def test_small_steps_are_shared_by_copies_and_convolutions_are_not() -> None:
    X, y = data()
    targets = torch.eye(2, dtype=torch.float64)[y]
    assert Descent(network(), X, targets, TRAINING).copies() > 10
    images = nn.Sequential(nn.Conv1d(1, 2, 2), nn.Flatten(), nn.Linear(4, 2)).double()
    assert Descent(images, X[:, None], targets, TRAINING).copies() == 1


def test_batches_that_do_not_fit_are_taken_in_pieces() -> None:
    whole = retrain(network(), data(), data(5, seed=1), training=TRAINING)
    same(retrain(network(), data(), data(5, seed=1), training=TRAINING, memory=2000), whole)


def test_pieces_that_stay_in_the_caches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = retrain(network(), data(), data(5, seed=1), training=TRAINING, copies=1)
    monkeypatch.setattr(descent, "_NEAR", 1)
    monkeypatch.setattr(descent, "_FEWEST_AT_ONCE", 2)
    same(retrain(network(), data(), data(5, seed=1), training=TRAINING, copies=1), whole)


@pytest.mark.parametrize(("decay_to", "loss"), [("start", "mse"), ("zero", "mse"), ("start", "cross-entropy")])
def test_flow_goes_where_short_steps_go(decay_to: Any, loss: str) -> None:
    flow = ui.GradientFlow(lr=0.1, time=60.0, weight_decay=0.03, loss=loss)
    found = retrain(network(), data(), data(5, seed=1), training=flow, samples=[4, 0], decay_to=decay_to)
    steps = ui.GradientDescent(lr=0.1 / 20, steps=60 * 20, weight_decay=0.03, loss=loss)
    wanted = by_the_loop(steps, [[4], [0]], decay_to=decay_to)
    # the last leaps are 0.3 of the time, and of second order
    close(found.outputs, wanted.outputs, atol=0.03 * float(wanted.outputs.abs().max()))
    close(found.weight, wanted.weight, rtol=0.1)
    close(found.functional, wanted.functional, rtol=0.1)


def test_flow_is_gone_on_with_at_the_pace_it_was_begun(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"training": ui.GradientFlow(lr=0.1, time=60.0), "folder": tmp_path / "kept"}
    first = retrain(network(), data(), data(5, seed=1), samples=[3], copies=1, **settings)
    again = retrain(network(), data(), data(5, seed=1), samples=[5, 3], copies=1, **settings)
    fresh = retrain(network(), data(), data(5, seed=1), training=settings["training"], samples=[5, 3], copies=1)
    np.testing.assert_array_equal(first.weight, again.weight[1:])
    np.testing.assert_array_equal(again.weight, fresh.weight)


def test_a_linear_network_gives_the_closed_form() -> None:
    torch.manual_seed(0)
    model, (X, y), val = nn.Linear(3, 2).double(), data(), data(5, seed=1)
    scores = ui.score(model, (X, y), val, training=TRAINING)
    found = retrain(model, (X, y), val, training=TRAINING)
    close(found.weight, scores.weight, rtol=1e-6)
    close(found.functional, scores.functional, rtol=1e-6)


def test_outputs_are_seen_on_the_way() -> None:
    found = retrain(network(), data(), data(5, seed=1), training=TRAINING, samples=[0], watch=[3, 25])
    short = retrain(network(), data(), data(5, seed=1), training=replace(TRAINING, steps=3), samples=[0])
    assert found.watched is not None
    close(found.watched[0], short.outputs, rtol=1e-12)
    close(found.watched[1], found.outputs, rtol=0)


def test_the_network_stays_as_it_was_and_its_batch_norm_in_eval_mode() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).double().train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    X, y = data()
    found = retrain(model, (X, y), (X, y), training=TRAINING, samples=[0])
    assert model.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    again = trained(model, X, torch.eye(2, dtype=torch.float64)[y], TRAINING)
    close(found.outputs, again(X).detach().numpy(), rtol=1e-9)


def test_frozen_parameters_stay() -> None:
    model = network()
    for parameter in list(model.parameters())[:2]:
        parameter.requires_grad_(False)
    X, y = data()
    found = retrain(model, (X, y), (X, y), training=replace(TRAINING, weight_decay=0.0), samples=[2])
    hidden = model[:2](X).detach()  # type: ignore[index]
    head = retrain(model[2], (hidden, y), (hidden, y), training=replace(TRAINING, weight_decay=0.0), samples=[2])  # type: ignore[index]
    close(found.weight, head.weight, rtol=1e-9)


def test_a_stopped_run_is_gone_on_with(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"training": TRAINING, "copies": 4, "folder": tmp_path / "kept", "watch": [5]}
    first = retrain(network(), data(), data(5, seed=1), **settings)
    sorted((tmp_path / "kept").glob("without-*.safetensors"))[1].unlink()
    written = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    again = retrain(network(), data(), data(5, seed=1), **settings)
    for name in ("weight", "functional", "value", "outputs", "outputs_without", "watched"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert {name: (tmp_path / "kept" / name).stat().st_mtime_ns for name in written} == written


def test_a_damaged_training_is_done_again(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"training": TRAINING, "copies": 4, "folder": tmp_path / "kept"}
    first = retrain(network(), data(), data(5, seed=1), **settings)
    files = [tmp_path / "kept" / "all.safetensors", *sorted((tmp_path / "kept").glob("without-*.safetensors"))]
    whole = [path.read_bytes() for path in files]
    files[0].write_bytes(whole[0][:-8] + bytes(8))  # other numbers
    files[1].write_bytes(whole[1][:40])  # cut off
    (tmp_path / "kept" / ".all.safetensors.77.part").write_bytes(b"begun")  # by a process that was killed
    again = retrain(network(), data(), data(5, seed=1), **settings)
    np.testing.assert_array_equal(first.outputs_without, again.outputs_without)
    assert not list((tmp_path / "kept").glob("*.part"))
    assert len(files[1].read_bytes()) == len(whole[1])


def test_samples_can_be_added_to_a_run(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"training": TRAINING, "copies": 1, "folder": tmp_path / "kept"}
    retrain(network(), data(), data(5, seed=1), samples=[3, 7], **settings)
    written = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    found = retrain(network(), data(), data(5, seed=1), samples=[7, 5, 3], **settings)
    same(found, by_the_loop(TRAINING, [[7], [5], [3]]))
    assert {name: (tmp_path / "kept" / name).stat().st_mtime_ns for name in written} == written


def test_a_folder_of_another_training_is_refused(tmp_path: Path) -> None:
    retrain(network(), data(), training=TRAINING, samples=[0], folder=tmp_path / "kept")
    with pytest.raises(ui.InputError, match=r"made with training\.steps = 25, not 9; name another folder"):
        retrain(network(), data(), training=replace(TRAINING, steps=9), samples=[0], folder=tmp_path / "kept")
    with pytest.raises(ui.InputError, match=r"made with train = .*; name another folder"):
        retrain(network(), data(seed=3), training=TRAINING, samples=[0], folder=tmp_path / "kept")


def test_a_rate_at_which_the_network_itself_diverges_is_refused() -> None:
    with pytest.raises(ui.InputError, match="diverges"):
        retrain(network(), data(), training=ui.GradientDescent(lr=1e6, steps=200), samples=[0])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"samples": [0], "groups": [[1]]}, "leave one of them out"),
        ({"samples": [12]}, "sample 12 is outside 0…11"),
        ({"groups": [[]]}, "at least one of the 12 samples"),
        ({"groups": [list(range(12))]}, "at least one to train on"),
        ({"batch_size": 0}, "batch_size"),
        ({"copies": 0}, "copies: expected at least 1"),
        ({"watch": [26]}, "steps between 1 and 25"),
        ({"training": ui.GradientFlow(lr=0.1, time=5.0), "batch_size": 4}, "batch_size: gradient flow"),
        ({"training": ui.Converged()}, "training: expected GradientDescent or GradientFlow"),
    ],
)
def test_what_cannot_be_retrained_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ui.InputError, match=said):
        retrain(network(), data(), **({"training": TRAINING} | wrong))


@pytest.mark.parametrize("training", [TRAINING, ui.GradientFlow(lr=0.1, time=60.0)])
def test_every_step_is_told(training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    totals: list[int] = []

    @contextmanager
    def bar(what: str, total: int, **given: Any) -> Iterator[Callable[[int], None]]:
        totals.append(total)
        yield told.append

    monkeypatch.setattr("uniqueinfo.baselines.retraining.bar", bar)
    retrain(network(), data(), training=training, samples=[0, 1, 2], copies=2)
    assert [sum(told)] == totals
    assert len(told) > 3 * 20  # steps of three goes: with all, without two, without the third


def test_how_many_gradients_flow_takes_is_known_before() -> None:
    flow = ui.GradientFlow(lr=0.1, time=60.0)
    with opened(network(), data(), training=flow) as retraining:
        expected = retraining.speed(1).steps(flow)
        taken: list[int] = []
        retraining.descent.stepped = taken.append
        retraining.descent.train([[]])
    assert len(taken) == pytest.approx(expected, rel=0.2)


def test_shorter_trainings_end_where_the_long_one_ends() -> None:
    long = ui.GradientDescent(lr=0.02, steps=2000)
    wanted = retrain(network(), data(), data(5, seed=1), training=long, samples=range(12))
    with opened(network(), data(), data(5, seed=1), training=long) as retraining:
        found = shorter(long, retraining.speed(12))
        runs = [retraining.run(retraining.groups(range(12), None), training=way) for way in found]
    assert [way.steps for way in found] == sorted((way.steps for way in found), reverse=True)
    assert found[-1].steps < 200
    assert wanted.functional is not None
    for run in runs:  # one step for twenty of them: this network learns its features on the way
        close(run.functional, wanted.functional, rtol=0.25)
        assert run.functional is not None
        np.testing.assert_array_equal(np.argsort(run.functional), np.argsort(wanted.functional))
