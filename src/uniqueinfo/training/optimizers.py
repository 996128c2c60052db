"""Optimizers that can be followed: each weight is moved by its own gradients alone, so that some stand for all."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uniqueinfo.errors import InputError

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

FOLLOWED = ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad")
"""PyTorch's names."""
_IN_TIME = {"SGD": "sgd", "Adam": "adam", "AdamW": "adam", "NAdam": "adam", "RAdam": "adam"}
"""Those that are also followed as flow: by plain gradients, or by gradients over the root of their second moments."""


def followed(name: str) -> str:
    """PyTorch's name of an optimizer, in any case; refuses what is not followed.

    >>> followed("adamw")
    'AdamW'
    """
    known = {each.lower(): each for each in FOLLOWED}
    if name.lower() not in known:
        raise InputError(
            f"optimizer: {name} is not followed; {', '.join(FOLLOWED)} are. For others, hand their checkpoints to "
            "Recorded.from_checkpoints with the optimizer and the rates that come closest"
        )
    return known[name.lower()]


def family(name: str) -> str | None:
    """ "sgd" or "adam" where a training by this optimizer can be followed as flow; None where step by step alone."""
    return _IN_TIME.get(name)


def options_of(optimizer: Optimizer, group: Mapping[str, Any]) -> dict[str, Any]:
    """What a group of parameters is trained with, beside its rate, which changes on the way."""
    known = set(inspect.signature(type(optimizer).__init__).parameters) - {"self", "params", "lr", *_HOW}
    return {name: _plain(value) for name, value in group.items() if name in known}


def couples(about: Mapping[str, Any]) -> bool:
    """Whether what a step does to two runs alike depends on the weights themselves: decay inside of other moments."""
    decays = any(options.get("weight_decay", 0.0) for options in about["options"])
    return decays and about["optimizer"] not in ("SGD", "AdamW")


def made(name: str, tensors: Sequence[nn.Parameter], options: Sequence[Mapping[str, Any]]) -> Optimizer:
    """PyTorch's own optimizer for one tensor of every group."""
    import torch

    groups = [{"params": [tensor], "lr": 1.0, **_as_given(each)} for tensor, each in zip(tensors, options, strict=True)]
    found: Optimizer = getattr(torch.optim, name)(groups)
    return found


_HOW = ("foreach", "fused", "capturable", "differentiable")  # of an implementation, not of what it computes


def _plain(value: Any) -> Any:
    return [float(each) for each in value] if isinstance(value, tuple | list) else value


def _as_given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
