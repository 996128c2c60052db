"""Adversarial examples: inputs moved a little, in the direction that makes a network most wrong."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import outputs_of
from uniqueinfo.jacobian.guard import prepared
from uniqueinfo.progress import progress
from uniqueinfo.samples.targets import as_targets

_BATCH = 50


def fgsm(
    model: nn.Module,
    inputs: Tensor,
    labels: Any,
    epsilon: float,
    *,
    low: float | Tensor = 0.0,
    high: float | Tensor = 1.0,
) -> Tensor:
    """The fast gradient sign method: x + ε sign ∇ₓ ½‖f(x) − y‖², kept between `low` and `high`.

    (Goodfellow, Shlens & Szegedy 2015.)

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(model.weight)
    >>> fgsm(model, torch.tensor([[0.75], [0.5]]), [1, 0], 0.125)      # away from 1, away from 0
    tensor([[0.6250],
            [0.6250]])
    """
    return pgd(model, inputs, labels, epsilon, steps=1, step=epsilon, low=low, high=high)


def pgd(
    model: nn.Module,
    inputs: Tensor,
    labels: Any,
    epsilon: float,
    *,
    steps: int = 10,
    step: float | None = None,
    low: float | Tensor = 0.0,
    high: float | Tensor = 1.0,
) -> Tensor:
    """Projected gradient descent: several such steps, from the input itself, never further than ε in any number.

    `step` is a quarter of ε where not given. `low` and `high` may differ by channel: anything that broadcasts.
    (Madry et al. 2018.)

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(model.weight)
    >>> pgd(model, torch.tensor([[0.75]]), [1], 0.125, steps=3, step=0.0625)
    tensor([[0.6250]])
    """
    if epsilon <= 0 or steps < 1:
        raise InputError(f"expected epsilon above 0 and at least one step, got {epsilon} and {steps}; raise them")
    size = epsilon / 4 if step is None else step
    with prepared(model, quiet=True):
        with torch.no_grad():
            outputs = outputs_of(model(inputs[:1])).reshape(1, -1).shape[1]
        targets = torch.from_numpy(as_targets(labels, outputs)).to(inputs.device, inputs.dtype)
        if len(targets) != len(inputs):
            raise InputError(
                f"labels: expected one for each of the {len(inputs)} inputs, got {len(targets)}; "
                "give both of the same samples"
            )
        moved = []
        with progress("Attacking", len(inputs)) as advance:
            for x, y in zip(torch.split(inputs, _BATCH), torch.split(targets, _BATCH), strict=True):
                moved.append(_attack(model, x, y, epsilon, steps, size, low, high))
                advance(len(x))
    return torch.cat(moved)


def _attack(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    epsilon: float,
    steps: int,
    step: float,
    low: float | Tensor,
    high: float | Tensor,
) -> Tensor:
    least, most = (torch.as_tensor(bound, dtype=inputs.dtype, device=inputs.device) for bound in (low, high))
    x = inputs.detach()
    for _ in range(steps):
        x = x.clone().requires_grad_()
        loss = (outputs_of(model(x)).reshape(len(x), -1) - targets).square().sum() / 2
        if not torch.isfinite(loss):
            raise InputError(
                "model: gives NaN or infinity for some input, so there is no direction to attack in; check its weights"
            )
        (slope,) = torch.autograd.grad(loss, x)
        x = x.detach() + step * slope.sign()
        x = torch.clamp(x, inputs - epsilon, inputs + epsilon).clamp(least, most)
    return x
