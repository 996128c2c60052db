"""Layers of units: `mlp:1024`, or several: `mlp:512,256`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.source import ModelSource

if TYPE_CHECKING:
    from torch import nn


class Mlp(ModelSource):
    """A network of the widths named."""

    prefix = "mlp"
    words = "mlp:WIDTH"
    place = 1

    def argument(self, name: str) -> str | None:
        """The widths, also where they are forgotten: `check` says how to give them."""
        prefix, _, rest = name.partition(":")
        return rest if prefix == self.prefix else None

    def check(self, argument: str) -> None:
        """Refuse what is no list of widths."""
        _widths(argument)

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """ReLU after each hidden layer."""
        from torch import nn

        widths = _widths(argument)
        layers: list[nn.Module] = [nn.Flatten()]
        for before, width in zip([math.prod(shape), *widths], widths, strict=False):
            layers += [nn.Linear(before, width), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))


def _widths(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise InputError(f"--model mlp:{text}: give the width of each hidden layer, such as mlp:1024 or mlp:512,256")
    return [int(part) for part in parts]


SOURCES = (Mlp(),)
