"""The training loop a PyTorch user writes: a deep copy of the network, torch.optim.SGD, one copy at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from uniqueinfo.training import GradientDescent


def trained(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    training: GradientDescent,
    without: Iterable[int] = (),
    batches: Sequence[Sequence[int]] | None = None,
    decay_to: str = "start",
) -> nn.Module:
    """The network after training on all samples but these; `batches` says which samples each step sees."""
    network, gone = deepcopy(model).eval(), set(without)
    start = [p.detach().clone() for p in network.parameters()]
    optimizer = torch.optim.SGD(
        [p for p in network.parameters() if p.requires_grad], lr=training.lr, momentum=training.momentum
    )
    for step in range(training.steps):
        batch = range(len(inputs)) if batches is None else batches[step]
        left = [i for i in batch if i not in gone]
        optimizer.zero_grad()
        loss = (network(inputs[left]) - targets[left]).square().sum() / 2
        loss = loss / len(left) if training.reduction == "mean" else loss * len(inputs) / len(batch)
        for parameter, begin in zip(network.parameters(), start, strict=True):
            towards = begin if decay_to == "start" else torch.zeros_like(begin)
            loss = loss + training.weight_decay / 2 * (parameter - towards).square().sum()
        loss.backward()
        optimizer.step()
    return network


def flat(model: nn.Module) -> Tensor:
    """All parameters in one vector."""
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])
