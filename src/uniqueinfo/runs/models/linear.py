"""No network: `linear`, a head on the inputs themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from uniqueinfo.runs.models.source import ModelSource

if TYPE_CHECKING:
    from torch import nn


class Linear(ModelSource):
    """A linear model, from zero."""

    prefix = words = "linear"
    place = 0
    linear = True

    def argument(self, name: str) -> str | None:
        """It has none."""
        return "" if name == self.prefix else None

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """The model as a network."""
        from torch import nn

        head = nn.Linear(math.prod(shape), outputs)
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)
        return nn.Sequential(nn.Flatten(), head)


SOURCES = (Linear(),)
