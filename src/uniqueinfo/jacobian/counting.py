"""What a network's passes and the products of its gradients take, counted on one sample: the same on every machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import nn

from uniqueinfo.jacobian.forward import repeat_to
from uniqueinfo.jacobian.gradients import Gradient, Outer
from uniqueinfo.jacobian.network import Network
from uniqueinfo.jacobian.outputs import OutputSketch
from uniqueinfo.samples.datasets import Inputs

_BACKWARD = 2  # a pass backward takes twice a pass forward
_ENTRY = 100  # operations in whose time one number goes to memory and comes back, a few times


@dataclass(frozen=True)
class Weights:
    """One parameter, and how its gradient is made: of `count` positions, g ⊗ x with x of so many columns."""

    size: int
    columns: int = 0
    count: int = 1
    """Of positions: how often the weight is used for one sample."""
    factors: bool = False
    """Whether the gradient is there in factors, and so may its kernel be."""

    def products(self, outputs: int, *, alike: bool) -> float:
        """For the kernel between two samples: of all pairs of outputs, or of each with itself where they are alike.

        >>> Weights(size=600, columns=30, factors=True).products(1, alike=False)  # g · g and x · x
        200.0
        """
        pairs = outputs if alike else outputs**2
        whole = 2.0 * pairs * self.size
        if not self.factors:
            return whole
        height = self.size // self.columns
        if not in_factors(self.count, self.columns, height, outputs, alike=alike):
            return whole
        square = self.count**2
        return square * (2.0 * (self.columns + pairs * height) + _ENTRY * (1 if alike else pairs))

    def held(self, outputs: int, *, alike: bool) -> int:
        """Bytes of one sample while kernels are summed: the gradient, or its factors as they come and in float64."""
        height = self.size // self.columns if self.factors else 0
        if self.factors and in_factors(self.count, self.columns, height, outputs, alike=alike):
            return 16 * self.count * (self.columns + outputs * height)
        return 4 * outputs * self.size


def in_factors(count: int, columns: int, height: int, outputs: int, *, alike: bool) -> bool:
    """Whether products of Gram matrices take less than those of the columns: a weight with few positions."""
    shared = outputs if alike else outputs**2
    return count**2 * (columns / shared + height) < columns * height


@dataclass(frozen=True)
class Counted:
    """The parameters of a network, as far as they cost."""

    weights: tuple[Weights, ...]

    @property
    def parameters(self) -> int:
        """How many there are."""
        return sum(each.size for each in self.weights)

    def kernel(self, outputs: int, *, alike: bool = False) -> float:
        """Operations for the exact kernel between two samples."""
        return sum(each.products(outputs, alike=alike) for each in self.weights)

    def held(self, outputs: int, *, alike: bool = False) -> int:
        """Bytes of one sample while kernels are summed, where all fit at once."""
        return sum(each.held(outputs, alike=alike) for each in self.weights)

    def passes(self, outputs: int) -> float:
        """Operations for one sample: once forward, once backward for each output."""
        forward = sum(2.0 * each.count * each.size for each in self.weights)
        return forward * (1 + _BACKWARD * outputs)


def count(model: nn.Module, example: Inputs) -> Counted:
    """Look at the gradients of one mixture of the outputs for one sample; the model must be in evaluation mode.

    >>> import torch
    >>> network = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.Flatten())
    >>> count(network, torch.zeros(1, 1, 4, 3)).weights
    (Weights(size=18, columns=9, count=2, factors=True),)
    """
    network = Network(model, example, OutputSketch(1))
    seen: dict[str, list[Gradient]] = {}
    network.run(repeat_to(example, 1), lambda output, part, name, g: seen.setdefault(name, []).append(g))
    return Counted(tuple(_weights(math.prod(shape), seen.get(name, [])) for name, shape in network.shapes.items()))


def _weights(size: int, gradients: list[Gradient]) -> Weights:
    found = gradients[0] if len(gradients) == 1 else None
    if not isinstance(found, Outer):
        return Weights(size)
    one = found.x.groups == 1
    return Weights(size, found.columns if one else 0, found.x.count, factors=one)
