"""Closed-form removals against training again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import retraining
from tests.oracles.compare import close
from tests.oracles.jacobian import head_rows
from tests.problems import KINDS, Problem, problem, trainings
from uniqueinfo import Converged, GradientDescent, GradientFlow, InputError, Linearization
from uniqueinfo.linearization.removal import Removal
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Reduction, Training

# float64 leaves a removal about 16 − log10(n · condition of the filter) digits; the contract is 6, the oracle has 10.
CLOSE = 1e-6
SHAPES = {"more columns than rows": (9, 40), "more rows than columns": (30, 8)}


def check(given: Problem, training: Training, form: Form, groups: list[list[int]], tolerance: float = CLOSE) -> Removal:
    """Every measure of every removal, relative to itself (values, which change sign, to the largest)."""
    linearization = Linearization.from_jacobian(given.J, given.residual, form=form)
    removal = linearization.train(training).leave_out(groups)
    found = removal.measures(linearization.probe(given.J_val, given.residual_val))
    truth = retraining.leave_out(given.J, given.residual, given.J_val, given.residual_val, training, groups)
    close(found.weight, truth.weight, rtol=tolerance)
    close(found.functional, truth.functional, rtol=tolerance)
    close(found.value, truth.value, rtol=0, atol=tolerance * np.abs(truth.value).max())
    for here, there in zip(removal.outputs(), truth.outputs, strict=True):
        close(here, there, rtol=0, atol=tolerance * np.abs(given.residual).max())
    return removal


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_removal_equals_training_again(
    kind: str, shape: str, outputs: int, form: Form, reduction: Reduction
) -> None:
    n, D = SHAPES[shape]
    given = problem(n, outputs, D)
    groups = [[i] for i in range(n)] + [[0, 1], [2, 5, 7], [1, 0, 3], list(range(n // 2))]
    check(given, trainings(given, reduction)[kind], form, groups)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 14),
    k=st.integers(1, 3),
    D=st.integers(1, 30),
    decades=st.floats(0, 8),
    log_time=st.floats(-1, 5),
    log_decay=st.one_of(st.none(), st.floats(-6, 1)),
    flow=st.booleans(),
    reduction=st.sampled_from(["mean", "sum"]),
    seed=st.integers(0, 2**16),
)
def test_any_shape_spectrum_and_setting_equals_training_again(
    n: int,
    k: int,
    D: int,
    decades: float,
    log_time: float,
    log_decay: float | None,
    flow: bool,
    reduction: Reduction,
    seed: int,
) -> None:
    given = problem(n, k, D, seed=seed, decades=decades)
    unit = 0.4 * (n - 1 if reduction == "mean" else 1) / given.largest
    decay = 0.0 if log_decay is None else 10**log_decay / unit * 0.1
    steps = max(1, round(10**log_time))
    training: Training = (
        GradientFlow(unit, float(steps), decay, reduction=reduction)
        if flow
        else GradientDescent(unit, steps, decay, reduction=reduction)
    )
    # Flow, and descent without momentum below its stable rate (here η(λ + decay) ≤ 1.4), have a fit at every length:
    # their filters go down without a wave that outlives the training. A FitError here is a fitter that got worse.
    for form in ("dual", "primal"):
        check(given, training, form, [[i] for i in range(n)] + [[0, 1]])


def test_a_group_may_be_all_the_data() -> None:
    given = problem(5, 2, 7)
    check(given, trainings(given, "mean")["flow"], "dual", [[0, 1, 2, 3, 4]])


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_one_sample_alone_takes_everything_with_it(form: Form) -> None:
    given = problem(1, 2, 5)
    for training in (*trainings(given, "mean").values(), *trainings(given, "sum").values()):
        check(given, training, form, [[0]])


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_linear_head_equals_its_written_out_jacobian(reduction: Reduction) -> None:
    rng = np.random.default_rng(3)
    X, Y, X_val, Y_val = (
        rng.normal(size=(20, 6)),
        rng.normal(size=(20, 4)),
        rng.normal(size=(5, 6)),
        rng.normal(size=(5, 4)),
    )
    written = Problem(head_rows(X, 4), Y, head_rows(X_val, 4), Y_val)
    for training in trainings(written, reduction).values():
        groups = [[i] for i in range(20)] + [[0, 1, 2], [4, 9]]
        truth = retraining.leave_out(written.J, Y, written.J_val, Y_val, training, groups)
        for form in ("dual", "primal"):
            linearization = Linearization.from_features(X, Y, form=form)
            removal = linearization.train(training).leave_out(groups)
            found = removal.measures(linearization.probe(X_val, Y_val))
            close(found.weight, truth.weight, rtol=CLOSE)
            close(found.functional, truth.functional, rtol=CLOSE)
            close(found.value, truth.value, atol=CLOSE * np.abs(truth.value).max())
            close(np.concatenate(removal.outputs()), np.concatenate(truth.outputs), atol=CLOSE)


def test_a_kernel_alone_gives_the_same_measures() -> None:
    given = problem(8, 2, 30)
    flat, flat_val = given.J.reshape(16, 30), given.J_val.reshape(12, 30)
    training = trainings(given, "mean")["flow"]
    whole = Linearization.from_jacobian(given.J, given.residual)
    kernel = Linearization.from_kernel(flat @ flat.T, given.residual)
    expected = whole.train(training).leave_out().measures(whole.probe(given.J_val, given.residual_val))
    probe = kernel.probe((flat_val @ flat.T).reshape(6, 2, 16), given.residual_val)
    found = kernel.train(training).leave_out().measures(probe)
    close(found.weight, expected.weight, rtol=1e-10)
    close(found.functional, expected.functional, rtol=1e-10)
    assert found.value is not None
    close(found.value, expected.value, rtol=1e-8)


def test_output_changes_are_what_functional_information_sums_up() -> None:
    given = problem(12, 3, 7)
    linearization = Linearization.from_jacobian(given.J, given.residual)
    removal = linearization.train(trainings(given, "mean")["descent"]).leave_out()
    probe = linearization.probe(given.J_val)
    moved = np.empty((12, 6, 3))
    for numbers, chunk in removal.output_changes(probe):
        moved[numbers] = chunk
    close(np.square(moved).sum(axis=(1, 2)) / 12, removal.functional_information(probe), rtol=1e-10)


@pytest.mark.parametrize(("samples", "width"), [(40, 8), (10, 40)], ids=["primal", "dual"])
def test_all_validation_samples_together_give_the_mean_of_each_alone(samples: int, width: int) -> None:
    given = problem(samples, 1, width, m=30)  # so many are summed up; one alone is kept as it is
    linearization = Linearization.from_jacobian(given.J, given.residual)
    removal = linearization.train(trainings(given, "sum")["flow"]).leave_out()
    whole = linearization.probe(given.J_val, given.residual_val)
    parts = [linearization.probe(given.J_val[[j]], given.residual_val[[j]]) for j in range(30)]
    alone = np.mean([removal.functional_information(part) for part in parts], axis=0)
    close(removal.functional_information(whole), alone, rtol=1e-9)
    alone = np.mean([removal.value(part) for part in parts], axis=0)
    close(removal.value(whole), alone, atol=1e-9 * np.abs(alone).max())


# What the measures must obey, whatever the data


def test_an_orthogonal_change_of_the_parameters_changes_nothing() -> None:
    given = problem(10, 2, 15)
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(15, 15)))[0]
    training = trainings(given, "mean")["flow"]
    one = Linearization.from_jacobian(given.J, given.residual)
    other = Linearization.from_jacobian(given.J @ turn, given.residual)
    here = one.train(training).leave_out().measures(one.probe(given.J_val))
    there = other.train(training).leave_out().measures(other.probe(given.J_val @ turn))
    close(here.weight, there.weight, rtol=1e-9)
    close(here.functional, there.functional, rtol=1e-9)


def test_permuting_the_samples_permutes_the_scores() -> None:
    given = problem(25, 1, 6)
    order = np.random.default_rng(1).permutation(25)
    training = trainings(given, "mean")["descent"]
    straight = Linearization.from_jacobian(given.J, given.residual).train(training).leave_out().weight_information()
    mixed = Linearization.from_jacobian(given.J[order], given.residual[order]).train(training).leave_out()
    close(mixed.weight_information(), straight[order], rtol=1e-9)


def test_duplicates_are_worth_nothing_alone_and_something_together() -> None:
    given = problem(10, 1, 30)
    J, residual = np.concatenate([given.J, given.J[:1]]), np.concatenate([given.residual, given.residual[:1]])
    linearization = Linearization.from_jacobian(J, residual)
    probe = linearization.probe(given.J_val)
    removal = linearization.train(Converged()).leave_out([[0], [10], [0, 10], [1]])
    first, second, both, other = removal.functional_information(probe)
    assert max(first, second) < 1e-20 * other
    assert both > 0.1 * other


def test_a_sample_that_ridge_already_predicts_is_worth_nothing() -> None:
    given = problem(20, 1, 5)
    ridge = Converged(1.0, reduction="sum")
    foretold = given.J[0] @ retraining.weights(given.J, given.residual, ridge, [0])
    residual = np.concatenate([foretold[None], given.residual[1:]])
    weight = Linearization.from_jacobian(given.J, residual).train(ridge).leave_out().weight_information()
    assert weight[0] < 1e-25 * weight.max()


def test_a_sample_of_leverage_one_gives_up_its_direction() -> None:
    given = problem(12, 1, 5)
    J = np.concatenate([given.J, np.zeros((12, 1, 1))], axis=2)
    J[3, 0, 5] = 2.0  # the only sample that sees the last parameter
    alone = Problem(J, given.residual, np.concatenate([given.J_val, np.ones((6, 1, 1))], axis=2), given.residual_val)
    for form in ("dual", "primal"):
        check(alone, Converged(), form, [[i] for i in range(12)])


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("kind", KINDS)
def test_rank_deficient_kernels_are_handled(kind: str, form: Form) -> None:
    given = problem(10, 2, 12, seed=4)
    mixing = np.random.default_rng(0).normal(size=(4, 12))
    low = Problem(given.J[..., :4] @ mixing, given.residual, given.J_val[..., :4] @ mixing, given.residual_val)
    check(low, trainings(low, "mean")[kind], form, [[i] for i in range(10)] + [[0, 1], list(range(9))])


def test_rows_of_zeros_learn_nothing_and_are_worth_nothing() -> None:
    linearization = Linearization.from_jacobian(np.zeros((4, 1, 3)), np.ones((4, 1)))
    for training in (GradientDescent(0.1, 10), GradientFlow(0.1, 10.0), Converged(), Converged(0.1)):
        found = linearization.train(training).leave_out().measures(linearization.probe(np.ones((2, 1, 3))))
        assert found.functional is not None
        assert not found.weight.any()
        assert not found.functional.any()


# Mistakes


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "the list is empty"),
        ([[0], []], "group 1 must be a non-empty list"),
        ([[0, 9]], "group 0 names sample 9; there are samples 0 … 4"),
        ([[-1]], "names sample -1"),
        ([[1, 1]], "names sample 1 more than once"),
        ([[0.5]], "must hold whole numbers"),
    ],
)
def test_wrong_groups_are_refused(groups: list[list[int]], message: str) -> None:
    given = problem(5, 1, 3)
    run = Linearization.from_jacobian(given.J, given.residual).train(Converged(1.0))
    with pytest.raises(InputError, match=message):
        run.leave_out(groups)


def test_the_value_needs_validation_targets() -> None:
    given = problem(5, 1, 3)
    linearization = Linearization.from_jacobian(given.J, given.residual)
    with pytest.raises(InputError, match="needs the targets"):
        linearization.train(Converged(1.0)).leave_out().value(linearization.probe(given.J_val))


def test_a_rate_that_only_the_rest_cannot_stand_is_refused_when_it_leaves() -> None:
    J = np.array([[[1.0]], [[1e-3]]])
    run = Linearization.from_jacobian(J, np.ones((2, 1))).train(GradientDescent(lr=3.0, steps=5))
    with pytest.raises(InputError, match="diverges on 1 samples"):
        run.leave_out().weight_information()
