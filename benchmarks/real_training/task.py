"""A training as people write it: data, a network at its start, and the loop of mini-batches around it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import uniqueinfo as ui

Optimizing = Callable[[nn.Module], tuple[torch.optim.Optimizer, Any]]
"""From a network to its optimizer and its schedule of rates, if there is one."""

_BATCH = 100


@dataclass(frozen=True, eq=False)
class Task:
    """Samples, a network at its start, and how it is trained."""

    title: str
    X: Tensor
    y: Tensor
    X_val: Tensor
    y_val: Tensor
    start: nn.Module
    loss: str
    steps: int
    batch: int
    optimizer: Optimizing
    dropout: bool = False
    """Whether the network is in training mode while it learns; statistics of batches are never learnt anew."""

    def each_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """As PyTorch has it, of each sample."""
        if self.loss == "cross-entropy":
            return nn.functional.cross_entropy(outputs, targets, reduction="none")
        return nn.functional.mse_loss(outputs[:, 0], targets.to(outputs), reduction="none") / 2

    def train(
        self, seed: int, left: frozenset[int] = frozenset(), folder: Path | None = None, *, told: bool = True
    ) -> tuple[nn.Module, float]:
        """The trained network, and the processor seconds that took.

        Samples that are left out weigh nothing in the mean over their batch; all else, order and dropout, is the same.
        A recording is told which samples are in a batch, or not.
        """
        model, weight = deepcopy(self.start).train(self.dropout), torch.ones(len(self.X))
        weight[list(left)] = 0
        torch.manual_seed(seed)
        optimizer, schedule = self.optimizer(model)
        recording = None if folder is None else ui.Recording(folder, model, optimizer, loss=self.loss)
        started = time.process_time()
        for batch in self.batches(seed):
            outputs = model(self.X[batch])
            losses, counted = self.each_loss(outputs, self.y[batch]), weight[batch]
            optimizer.zero_grad()
            torch.autograd.backward((losses * counted).sum() / counted.sum().clamp(min=1))
            optimizer.step()
            if schedule is not None:
                schedule.step()
            if recording is not None:
                recording.step(*((batch, outputs) if told else ()))
        if recording is not None:
            recording.finish()
        return model.eval(), time.process_time() - started

    def batches(self, seed: int) -> Iterator[Tensor]:
        """Positions of the samples of every step: all in a new order, again and again."""
        order, waiting = torch.Generator().manual_seed(seed), list[Tensor]()
        for _ in range(self.steps):
            if not waiting:
                drawn = torch.randperm(len(self.X), generator=order)
                waiting = [drawn[start : start + self.batch] for start in range(0, len(drawn), self.batch)]
            yield waiting.pop(0)

    def outputs(self, model: nn.Module) -> Tensor:
        """On the validation samples."""
        with torch.no_grad():
            return torch.cat([model(part) for part in torch.split(self.X_val, _BATCH)]).double()
