"""The training loop a PyTorch user writes: a deep copy of the network, torch.optim.SGD, one copy at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tests.oracles.any_loss import torch_loss
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
        loss: Any = torch_loss(str(training.loss))(network(inputs[left]), targets[left]).sum()
        loss = loss / len(left) if training.reduction == "mean" else loss * len(inputs) / len(batch)
        for parameter, begin in zip(network.parameters(), start, strict=True):
            towards = begin if decay_to == "start" else torch.zeros_like(begin)
            loss = loss + training.weight_decay / 2 * (parameter - towards).square().sum()
        loss.backward()
        optimizer.step()
    return network


@dataclass(frozen=True)
class Truth:
    """Every measure of every removal, from networks trained with and without."""

    weight: Tensor
    functional: Tensor
    value: Tensor
    outputs: Tensor
    outputs_without: Tensor
    trained: dict[str, Tensor]


def leave_out(
    model: nn.Module,
    train: tuple[Tensor, Tensor],
    val: tuple[Tensor, Tensor],
    training: GradientDescent,
    groups: Sequence[Sequence[int]],
    **settings: Any,
) -> Truth:
    """Train once with all and once without each group, and take the differences; targets are one-hot or numbers."""
    full = trained(model, *train, training, **settings)
    rest = [trained(model, *train, training, group, **settings) for group in groups]
    (inputs, wanted), m = val, len(val[0])
    outputs, without = full(inputs).detach(), torch.stack([one(inputs).detach() for one in rest])
    loss = torch_loss(str(training.loss))
    return Truth(
        weight=torch.stack([(flat(full) - flat(one)).square().sum() / 2 for one in rest]),
        functional=(without - outputs).square().sum(dim=(1, 2)) / (2 * m),
        value=torch.stack([loss(one, wanted).mean() for one in without]) - loss(outputs, wanted).mean(),
        outputs=outputs,
        outputs_without=without,
        trained={name: p.detach() for name, p in full.named_parameters()},
    )


def flat(model: nn.Module) -> Tensor:
    """All parameters in one vector."""
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])
