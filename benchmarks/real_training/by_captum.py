"""captum: TracIn over checkpoints, all layers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from captum.influence import TracInCP
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from benchmarks.real_training.case import Case

_BATCH = 50


def tracin(case: Case) -> Tensor:
    """Effects on validation losses, (n, m): products of gradients times the rate, added up over checkpoints."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{number}.pt") for number in range(len(case.between))]
        rates = dict(zip(paths, (rate for rate, _ in case.between), strict=True))
        for path, (_, weights) in zip(paths, case.between, strict=True):
            torch.save(dict(weights), path)

        def load(model: nn.Module, path: str) -> float:
            model.load_state_dict(torch.load(path))
            model.eval()
            return rates[path]

        data = TensorDataset(case.X, case.y)
        tracer = TracInCP(case.network(), data, paths, load, loss_fn=case.each_loss, batch_size=_BATCH)
        parts = zip(torch.split(case.X_val, _BATCH), torch.split(case.y_val, _BATCH), strict=True)
        return torch.cat([tracer.influence(part).detach().double() for part in parts]).T
