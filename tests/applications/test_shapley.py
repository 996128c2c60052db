"""Information averaged over random subsets."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

import uniqueinfo as ui
from tests.oracles import retraining
from tests.problems import Problem, problem, trainings
from uniqueinfo.applications.shapley import _rounds, shapley, within
from uniqueinfo.linearization.subsets import Subset, Subsets
from uniqueinfo.training import Training
from uniqueinfo.types import Floats


def _truth(given: Problem, training: Training, subset: tuple[int, ...]) -> Floats:
    """F-SI of each sample of a subset, by training on it and again without the sample."""
    at = list(subset)
    groups = [[i] for i in range(len(at))]
    found = retraining.leave_out(given.J[at], given.residual[at], given.J_val, given.residual_val, training, groups)
    return found.functional


def _averages(given: Problem, training: Training) -> Floats:
    """Over every subset: sizes weigh the same, and subsets of one size that hold the sample weigh the same."""
    n = given.samples
    total = np.zeros(n)
    for size in range(1, n + 1):
        of_size = list(combinations(range(n), size))
        holding = len(of_size) * size / n
        for subset in of_size:
            total[list(subset)] += _truth(given, training, subset) / holding / n
    return total


def test_information_within_every_subset_is_that_of_training_again() -> None:
    given = problem(5, 2, 8)
    training = trainings(given, "mean")["flow with decay"]
    origin = ui.score_jacobian(given.J, given.residual, given.J_val, training=training).origin
    parts = Subsets(Subset(origin.run, origin.probe))
    for size in range(1, 6):
        for subset in combinations(range(5), size):
            np.testing.assert_allclose(
                within(parts, np.array(subset)), _truth(given, training, subset), rtol=1e-6, atol=1e-12
            )


@pytest.mark.parametrize("D", [8, 3])  # dual and primal
def test_the_average_is_that_over_all_subsets(D: int) -> None:
    given = problem(5, 1, D)
    training = ui.Converged(0.5, reduction="sum")
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    found = shapley(scores, subsets=250, tolerance=1e-9)
    assert found.subsets == 250
    apart = np.abs(found.average - _averages(given, training)) / found.standard_error
    assert apart.max() < 4  # five samples, standard errors


def test_standard_errors_are_those_of_the_rounds() -> None:
    given = problem(6, 1, 4)
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=ui.Converged(0.5))
    rounds = np.stack(list(islice(_rounds(scores.origin, np.random.default_rng(7)), 12)))
    found = shapley(scores, subsets=12, tolerance=1e-9, seed=7)
    np.testing.assert_allclose(found.average, rounds.mean(axis=0))
    np.testing.assert_allclose(found.standard_error, rounds.std(axis=0, ddof=1) / 12**0.5)


def test_it_stops_once_half_the_samples_are_sure_enough() -> None:
    given = problem(6, 1, 4)
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=ui.Converged(0.5))
    found = shapley(scores, subsets=1000, tolerance=0.2)
    assert 10 <= found.subsets < 1000
    assert found.relative_error <= 0.2
    assert "not the" not in found.sentence
    assert "not the 1%" in shapley(scores, subsets=10, tolerance=0.01).sentence


def test_the_same_seed_gives_the_same_averages() -> None:
    given = problem(7, 1, 4)
    scores = ui.score_jacobian(given.J, given.residual, training=ui.Converged(0.5))
    one, two = (shapley(scores, subsets=10, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.average, two.average)
    assert not np.array_equal(one.average, shapley(scores, subsets=10, seed=4).average)


def test_descent_that_may_diverge_on_a_subset_becomes_flow() -> None:
    given = problem(12, 1, 30)
    limit = ui.GradientDescent(1.0, 1).largest_stable_rate(given.largest, 12)
    bold, careful = ui.GradientDescent(limit / 2, 40), ui.GradientDescent(limit / 100, 40)
    scores = [ui.score_jacobian(given.J, given.residual, given.J_val, training=one) for one in (bold, careful)]
    found = [shapley(one, subsets=10) for one in scores]
    assert found[0].training == ui.GradientFlow(bold.lr, 40.0)
    assert "gradient flow" in found[0].sentence
    assert found[1].training == careful


def test_two_duplicates_share_what_one_alone_would_have() -> None:
    X = np.eye(4)[[0, 0, 1, 2, 3]]
    scores = ui.score_features(X, np.ones(5), np.eye(4), training=ui.Converged(), head="paper")
    average = shapley(scores, subsets=300, tolerance=1e-9).average
    np.testing.assert_allclose(average[2:], average[2])
    assert average[0] == pytest.approx(average[2] / 2, rel=0.2)


def test_the_table_has_the_largest_first_and_the_plot_all() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    given = problem(8, 1, 4)
    found = shapley(ui.score_jacobian(given.J, given.residual, given.J_val, training=ui.Converged(0.5)), subsets=10)
    assert found.frame()["average"].is_monotonic_decreasing
    assert found.galleries()[0].samples[0].sample == found.average.argmax()
    axes = found.plot()
    assert np.shape(axes.lines[0].get_xdata()) == (8,)
    matplotlib.pyplot.close(axes.figure)


@pytest.mark.parametrize(
    ("given", "message"), [({"subsets": 1}, "subsets: expected"), ({"tolerance": 0.0}, "tolerance")]
)
def test_bad_settings_are_named(given: dict[str, float], message: str) -> None:
    small = problem(4, 1, 3)
    with pytest.raises(ui.InputError, match=message):
        shapley(ui.score_jacobian(small.J, small.residual, training=ui.Converged(0.5)), **given)  # type: ignore[arg-type]


def test_threads_change_no_bit() -> None:
    """Parts are small: one thread is as quick as many, and sums are then taken in one order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 90))
    scores = ui.score_features(X, X[:, 0] + X[:, 1] ** 2, X[:60], training=ui.Converged(1e-3), progress=False)
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            with threadpool_limits(threads):
                found.append(ui.shapley(scores, subsets=4).average)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
