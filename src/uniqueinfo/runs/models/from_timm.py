"""Networks of timm: `timm:vit_tiny_patch16_224`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uniqueinfo.runs.models.library import library, loaded
from uniqueinfo.runs.models.source import ModelSource

if TYPE_CHECKING:
    from torch import nn


class Timm(ModelSource):
    """Classifiers of pictures, with a last layer for the outputs needed."""

    prefix = "timm"
    words = "timm:NAME"
    place = 3
    pixels = 224
    fresh_head = True

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """As timm makes it."""
        timm = library("timm")
        network: nn.Module = loaded(
            argument, lambda: timm.create_model(argument, pretrained=pretrained, num_classes=outputs)
        )
        return network


SOURCES = (Timm(),)
