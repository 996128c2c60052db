"""Embeddings: the output gradients, laid where the tokens look."""

from __future__ import annotations

from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Gradient, Lookup
from uniqueinfo.jacobian.rules.rule import Rule


def _gradient(layer: nn.Embedding, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    index, g = x.reshape(len(x), -1), g.reshape(len(x), -1, layer.embedding_dim)
    if layer.padding_idx is not None:
        g = g * (index != layer.padding_idx)[..., None]
    return Lookup(index, g, layer.num_embeddings)


def _plain(layer: nn.Embedding) -> bool:
    return layer.max_norm is None and not layer.scale_grad_by_freq


RULES = (Rule("embedding", (nn.Embedding,), _gradient, batch_first=False, applies=_plain),)
