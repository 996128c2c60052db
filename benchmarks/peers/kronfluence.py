"""kronfluence: influence functions with EK-FAC's curvature."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from typing import Any

import torch
from kronfluence import Analyzer, FactorArguments, ScoreArguments, Task, prepare_model
from torch import Tensor, nn
from torch.utils.data import Dataset, TensorDataset

from benchmarks.peers.child import Found
from benchmarks.peers.effects import of_outputs
from benchmarks.peers.problem import Problem, half_squares, network

_BATCH = 250
_QUERIES = 50


class _Squares(Task):  # type: ignore[misc]  # the package is there in its own environment only
    """½‖f(x) − y‖²: the network as the mean of a normal distribution, from which the Fisher matrix draws."""

    def compute_train_loss(self, batch: Any, model: nn.Module, sample: bool = False) -> Tensor:
        outputs = model(batch[0])
        targets = torch.normal(outputs.detach(), 1.0) if sample else batch[1]
        return half_squares(outputs, targets).sum()

    def compute_measurement(self, batch: Any, model: nn.Module) -> Tensor:
        return self.compute_train_loss(batch, model)


class _Outputs(_Squares):
    """Influence on the one output."""

    def compute_measurement(self, batch: Any, model: nn.Module) -> Tensor:
        outputs: Tensor = model(batch[0])
        return outputs.sum()


def self_influence(problem: Problem) -> Found:
    def scores(analyzer: Analyzer, train: Dataset[Any]) -> Tensor:
        analyzer.compute_self_scores("own", "factors", train, per_device_train_batch_size=_BATCH, score_args=_damped())
        return _all(analyzer.load_self_scores("own"))

    own = _analyzed(problem, _Squares(), scores).numpy()
    return {"amount": own, "suspicion": own}


def total(problem: Problem) -> Found:
    """On the validation loss, its gradients added up before."""

    def scores(analyzer: Analyzer, train: Dataset[Any]) -> Tensor:
        val = TensorDataset(problem.X_val, problem.val_targets)
        arguments = _damped(aggregate_query_gradients=True)
        analyzer.compute_pairwise_scores("total", "factors", val, train, _QUERIES, _BATCH, score_args=arguments)
        return _all(analyzer.load_pairwise_scores("total"))

    value = _analyzed(problem, _Squares(), scores)[0].numpy() / len(problem.X_val)
    return {"value": value, "suspicion": -value}


def on_outputs(problem: Problem) -> Found:
    """On every validation output; where there is one."""
    if problem.outputs > 1:
        raise NotImplementedError("influence on each of several outputs: one query for each of them")

    def scores(analyzer: Analyzer, train: Dataset[Any]) -> Tensor:
        val = TensorDataset(problem.X_val, problem.val_targets)
        analyzer.compute_pairwise_scores("outputs", "factors", val, train, _QUERIES, _BATCH, score_args=_damped())
        return _all(analyzer.load_pairwise_scores("outputs"))

    # A score is what the measurement would gain if the loss of the sample counted less: −effect of its being there.
    return of_outputs(problem, -_analyzed(problem, _Outputs(), scores).T)


def _analyzed(problem: Problem, task: Task, scores: Callable[[Analyzer, Dataset[Any]], Tensor]) -> Tensor:
    torch.manual_seed(0)
    model = prepare_model(network(problem.trained), task)
    train = TensorDataset(problem.X, problem.targets)
    with tempfile.TemporaryDirectory() as folder:
        analyzer = Analyzer(
            "bench", model, task, cpu=True, disable_tqdm=True, output_dir=folder, log_level=logging.ERROR
        )
        analyzer.fit_all_factors(
            "factors", train, per_device_batch_size=_BATCH, factor_args=FactorArguments(strategy="ekfac")
        )
        return scores(analyzer, train)


def _damped(**options: Any) -> ScoreArguments:
    """Its heuristic: a tenth of the mean eigenvalue."""
    return ScoreArguments(damping_factor=None, **options)


def _all(found: Any) -> Tensor:
    scores: Tensor = found["all_modules"]
    return scores.double()
