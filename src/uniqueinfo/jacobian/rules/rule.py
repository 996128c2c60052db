"""What a layer rule is, and which one a layer has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Gradient
from uniqueinfo.store.declared import declared


@dataclass(frozen=True)
class Rule:
    """How one kind of layer is handled."""

    kind: str
    layers: tuple[type[nn.Module], ...]
    """Those whose forward pass it knows; layers that inherit this forward pass are among them."""
    gradient: Callable[[Any, Tensor, Tensor, str], Gradient]
    """`gradient(layer, x, g, parameter)`; the first axis of `x` and `g` is the batch."""
    batch_first: bool = True
    """False: the batch may be any axis but the last ones the layer works on."""
    applies: Callable[[Any], bool] = lambda layer: True
    """Whether the layer's settings are ones the rule knows."""


@cache
def rules() -> dict[Callable[..., Any], Rule]:
    """All rules, by the forward pass they know; looked up once, for a network has many layers.

    >>> rules()[nn.Linear.forward].kind
    'linear'
    """
    found: dict[Callable[..., Any], Rule] = {}
    for rule in declared("uniqueinfo.jacobian.rules", "RULES", Rule):
        for layer in rule.layers:
            if found.setdefault(layer.forward, rule) is not rule:
                raise TypeError(f"{layer.__name__}: two rules know its forward pass; drop one")
    return found


def find_rule(layer: nn.Module) -> Rule | None:
    """The rule of this layer, if its forward pass is the known one and no hook changes what it sees."""
    rule = rules().get(type(layer).forward)
    return rule if rule is not None and not has_hooks(layer) and rule.applies(layer) else None


def has_hooks(module: nn.Module) -> bool:
    """Whether hooks of the user may change what goes in or comes out."""
    return bool(module._forward_hooks or module._forward_pre_hooks)


def widen(tensor: Tensor) -> Tensor:
    """Half-precision numbers in float32, so that products and sums keep their digits."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
