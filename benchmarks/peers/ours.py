"""This package: every leave-one-out of the linearized network at once."""

from __future__ import annotations

from benchmarks.peers.child import Found
from benchmarks.peers.problem import Problem, network
from uniqueinfo import GradientDescent, Scores, score, score_features
from uniqueinfo.scores.predictions import Predictions


def left_out(problem: Problem) -> Found:
    """From the network before training, and the training that is meant; nothing is trained."""
    training = GradientDescent(problem.lr, problem.steps)
    val = problem.X_val, problem.y_val
    if len(problem.start) > 1:
        return _found(score(network(problem.start), (problem.X, problem.y), val, training=training))
    arrays = problem.X, problem.y.numpy(), problem.X_val, problem.y_val.numpy()
    return _found(score_features(*arrays, training=training, head="paper"))


def both_ends(problem: Problem) -> Found:
    """From the network before and after training."""
    training = GradientDescent(problem.lr, problem.steps)
    val = problem.X_val, problem.y_val
    start, trained = network(problem.start), network(problem.trained)
    return _found(score(start, (problem.X, problem.y), val, training=training, trained=trained))


def _found(scores: Scores) -> Found:
    predictions = Predictions.of(scores)
    assert predictions is not None
    assert scores.functional is not None
    assert scores.value is not None
    return {"amount": scores.functional, "value": scores.value, "suspicion": -predictions.margin}
