"""Norm layers: scale and shift of what the layer has normalized."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Formed, Gradient
from uniqueinfo.jacobian.rules.rule import Rule, widen


def _of_channels(layer: nn.Module, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    if parameter == "weight":
        g = g * _normalized(layer, x)
    return Formed(g.reshape(len(g), g.shape[1], -1).sum(2))


def _of_last_axes(layer: nn.LayerNorm | nn.RMSNorm, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    if parameter == "weight":
        g = g * _normalized(layer, x)
    return Formed(g.reshape(len(g), -1, *layer.normalized_shape).sum(1))


def _normalized(layer: nn.Module, x: Tensor) -> Tensor:
    """The input of a norm layer after normalization, before its scale and shift."""
    match layer:
        case nn.GroupNorm():
            return F.group_norm(x, layer.num_groups, eps=layer.eps)
        case nn.LayerNorm():
            return F.layer_norm(x, layer.normalized_shape, eps=layer.eps)
        case nn.RMSNorm():
            return F.rms_norm(x, layer.normalized_shape, eps=layer.eps)
        case _:
            batch_norm: Any = layer
            return F.batch_norm(x, widen(batch_norm.running_mean), widen(batch_norm.running_var), eps=batch_norm.eps)


RULES = (
    Rule("norm", (nn.BatchNorm2d, nn.GroupNorm), _of_channels),  # BatchNorm1d and 3d share BatchNorm2d's forward pass
    Rule("norm", (nn.LayerNorm, nn.RMSNorm), _of_last_axes, batch_first=False),
)
