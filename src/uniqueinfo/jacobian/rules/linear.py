"""Linear layers: an outer product, summed over the tokens of a sample."""

from __future__ import annotations

from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Formed, Gradient, Outer
from uniqueinfo.jacobian.positions import Tokens
from uniqueinfo.jacobian.rules.rule import Rule


def _gradient(layer: nn.Linear, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    g = g.reshape(len(g), -1, layer.out_features)
    return Formed(g.sum(1)) if parameter == "bias" else Outer(Tokens(x), g.mT[:, None])


RULES = (Rule("linear", (nn.Linear,), _gradient, batch_first=False),)
