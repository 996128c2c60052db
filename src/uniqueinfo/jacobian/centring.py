"""A network whose outputs start from zero: what it gives less what it gave before training."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import outputs_of


def centred(model: nn.Module) -> nn.Module:
    """f(x) − f₀(x), with f₀ a frozen copy of the network as it is now.

    A fresh last layer gives random outputs, which training has to undo, and they rule which samples tell the network
    something. Without them scores depend far less on the draw; the Jacobian, and what training can learn, is the same.
    `model` itself stays as it is.

    >>> model = nn.Linear(2, 1)
    >>> centred(model)(torch.randn(3, 2))
    tensor([[0.],
            [0.],
            [0.]], grad_fn=<SubBackward0>)
    """
    if not isinstance(model, nn.Module):
        raise InputError(f"model: expected an nn.Module, got {type(model).__name__}")
    return _Centred(model)


class _Centred(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.before = deepcopy(network).requires_grad_(False)
        self.train(network.training)

    def forward(self, *args: Any, **named: Any) -> Tensor:
        """Zero until the network is trained."""
        with torch.no_grad():
            before = outputs_of(self.before(*args, **named))
        return outputs_of(self.network(*args, **named)) - before
