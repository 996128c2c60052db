"""Layer rules: the gradient of a layer's own parameters from what went in and the gradient of what came out.

Each rule is exact and knows one kind of layer in evaluation mode; the first axis of `x` and `g` is the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Formed, Gradient, Lookup, Outer
from uniqueinfo.jacobian.positions import Convolution, Patches, Tokens


@dataclass(frozen=True)
class Rule:
    """How one kind of layer is handled: `gradient(layer, x, g, parameter)`."""

    kind: str
    gradient: Callable[[Any, Tensor, Tensor, str], Gradient]
    batch_first: bool = True  # false: the batch may be any axis but the last ones the layer works on
    applies: Callable[[Any], bool] = lambda layer: True


def find_rule(layer: nn.Module) -> Rule | None:
    """The rule of this layer, if its forward pass is the known one and no hook changes what it sees."""
    rule = _RULES.get(type(layer).forward)
    return rule if rule is not None and not has_hooks(layer) and rule.applies(layer) else None


def has_hooks(module: nn.Module) -> bool:
    """Whether hooks of the user may change what goes in or comes out."""
    return bool(module._forward_hooks or module._forward_pre_hooks)


def widen(tensor: Tensor) -> Tensor:
    """Half-precision numbers in float32, so that products and sums keep their digits."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _linear(layer: nn.Linear, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    g = g.reshape(len(g), -1, layer.out_features)
    return Formed(g.sum(1)) if parameter == "bias" else Outer(Tokens(x), g.mT[:, None])


def _convolution(layer: Convolution, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    if parameter == "bias":
        return Formed(g.flatten(2).sum(2))
    return Outer(Patches(layer, x), g.reshape(len(g), layer.groups, layer.out_channels // layer.groups, -1))


def _channel_norm(layer: nn.Module, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    if parameter == "weight":
        g = g * _normalized(layer, x)
    return Formed(g.reshape(len(g), g.shape[1], -1).sum(2))


def _layer_norm(layer: nn.LayerNorm | nn.RMSNorm, x: Tensor, g: Tensor, parameter: str) -> Gradient:
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


def _embedding(layer: nn.Embedding, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    index, g = x.reshape(len(x), -1), g.reshape(len(x), -1, layer.embedding_dim)
    if layer.padding_idx is not None:
        g = g * (index != layer.padding_idx)[..., None]
    return Lookup(index, g, layer.num_embeddings)


def _plain_embedding(layer: nn.Embedding) -> bool:
    return layer.max_norm is None and not layer.scale_grad_by_freq


_NORM = Rule("norm", _channel_norm)
_LAYER_NORM = Rule("norm", _layer_norm, batch_first=False)
_CONVOLUTION = Rule("conv", _convolution)
_RULES: dict[Callable[..., Any], Rule] = {
    nn.Linear.forward: Rule("linear", _linear, batch_first=False),
    nn.Conv1d.forward: _CONVOLUTION,
    nn.Conv2d.forward: _CONVOLUTION,
    nn.Conv3d.forward: _CONVOLUTION,
    nn.BatchNorm2d.forward: _NORM,
    nn.GroupNorm.forward: _NORM,
    nn.LayerNorm.forward: _LAYER_NORM,
    nn.RMSNorm.forward: _LAYER_NORM,
    nn.Embedding.forward: Rule("embedding", _embedding, batch_first=False, applies=_plain_embedding),
}
