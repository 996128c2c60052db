"""kronfluence: influence functions with EK-FAC's curvature, of linear and convolutional layers."""

from __future__ import annotations

import logging
import tempfile
from typing import Any

import torch
from kronfluence import Analyzer, FactorArguments, ScoreArguments, Task, prepare_model
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from benchmarks.real_training.case import Case

_BATCH = 50
_QUERIES = 20


class _Losses(Task):  # type: ignore[misc]  # the package is there in its own environment only
    """The loss as it was trained; the Fisher matrix draws labels from what the network says."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self._case = case

    def compute_train_loss(self, batch: Any, model: nn.Module, sample: bool = False) -> Tensor:
        outputs = model(batch[0])
        return self._case.each_loss(outputs, self._drawn(outputs, batch[1]) if sample else batch[1]).sum()

    def compute_measurement(self, batch: Any, model: nn.Module) -> Tensor:
        return self.compute_train_loss(batch, model)

    def _drawn(self, outputs: Tensor, targets: Tensor) -> Tensor:
        held = outputs.detach()
        if self._case.kind == "tokens":
            said = torch.multinomial(held[:, :-1].softmax(dim=2).flatten(0, 1), 1).reshape(len(held), -1)
            return torch.cat([targets[:, :1], said], dim=1)
        if self._case.kind == "classes":
            return torch.multinomial(held.softmax(dim=1), 1)[:, 0]
        return torch.normal(held[:, 0], 1.0)


def ekfac(case: Case) -> Tensor:
    """Effects on validation losses, (n, m); damping by its heuristic."""
    torch.manual_seed(0)
    task = _Losses(case)
    model = prepare_model(nn.Sequential(case.network()), task)  # it replaces layers inside
    train, val = TensorDataset(case.X, case.y), TensorDataset(case.X_val, case.y_val)
    with tempfile.TemporaryDirectory() as folder:
        analyzer = Analyzer(
            "bench", model, task, cpu=True, disable_tqdm=True, output_dir=folder, log_level=logging.ERROR
        )
        strategy = FactorArguments(strategy="ekfac")
        analyzer.fit_all_factors("factors", train, per_device_batch_size=_BATCH, factor_args=strategy)
        damped = ScoreArguments(damping_factor=None)
        analyzer.compute_pairwise_scores("scores", "factors", val, train, _QUERIES, _BATCH, score_args=damped)
        found: Tensor = analyzer.load_pairwise_scores("scores")["all_modules"].double()
    return found.T
