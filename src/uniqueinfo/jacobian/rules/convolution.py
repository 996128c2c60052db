"""Convolutions: an outer product of patches and output gradients, summed over positions."""

from __future__ import annotations

from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Formed, Gradient, Outer
from uniqueinfo.jacobian.positions import Convolution, Patches
from uniqueinfo.jacobian.rules.rule import Rule


def _gradient(layer: Convolution, x: Tensor, g: Tensor, parameter: str) -> Gradient:
    if parameter == "bias":
        return Formed(g.flatten(2).sum(2))
    return Outer(Patches(layer, x), g.reshape(len(g), layer.groups, layer.out_channels // layer.groups, -1))


RULES = (Rule("conv", (nn.Conv1d, nn.Conv2d, nn.Conv3d), _gradient),)
