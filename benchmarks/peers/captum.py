"""captum: TracIn over checkpoints and by the last layer alone, and influence functions in Arnoldi's basis."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from captum.influence import TracInCPFast
from captum.influence._core.arnoldi_influence_function import ArnoldiInfluenceFunction  # documented, not exported
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from benchmarks.peers.child import Found
from benchmarks.peers.problem import Problem, half_squares, network

_BATCH = 100


def tracin_fast_self(problem: Problem) -> Found:
    with _tracin_fast(problem) as tracin:
        own = tracin.self_influence().double().numpy()
    return {"amount": own, "suspicion": own}


def tracin_fast_total(problem: Problem) -> Found:
    """Influence on the validation losses, added up."""
    with _tracin_fast(problem) as tracin:
        total = tracin.influence((problem.X_val, problem.val_targets)).double().mean(dim=0).numpy()
    return {"value": total, "suspicion": -total}


def arnoldi_self(problem: Problem) -> Found:
    with _arnoldi(problem) as arnoldi:
        own = arnoldi.self_influence().double().numpy()
    return {"amount": own, "suspicion": own}


def arnoldi_total(problem: Problem) -> Found:
    with _arnoldi(problem) as arnoldi:
        total = arnoldi.influence((problem.X_val, problem.val_targets)).double().mean(dim=0).numpy()
    return {"value": total, "suspicion": -total}


@contextmanager
def _tracin_fast(problem: Problem) -> Iterator[Any]:
    model = network(problem.trained)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{number}.pt") for number in range(len(problem.between))]
        for path, weights in zip(paths, problem.between, strict=True):
            torch.save(dict(weights), path)

        def load(model: nn.Module, path: str) -> float:
            model.load_state_dict(torch.load(path))
            return problem.lr

        data = TensorDataset(problem.X, problem.targets)
        yield TracInCPFast(model, model[-1], data, paths, load, loss_fn=_sum, batch_size=_BATCH)


@contextmanager
def _arnoldi(problem: Problem) -> Iterator[Any]:
    """Its default basis and projection."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "trained.pt")
        torch.save(dict(problem.trained), path)

        def load(model: nn.Module, path: str) -> float:
            model.load_state_dict(torch.load(path))
            return 1.0

        data = TensorDataset(problem.X, problem.targets)
        yield ArnoldiInfluenceFunction(
            network(problem.trained), data, path, load, loss_fn=_each, batch_size=_BATCH, seed=0
        )


def _sum(outputs: Tensor, targets: Tensor) -> Tensor:
    return half_squares(outputs, targets).sum()


_sum.reduction = "sum"  # type: ignore[attr-defined]  # captum asks


def _each(outputs: Tensor, targets: Tensor) -> Tensor:
    return half_squares(outputs, targets)
