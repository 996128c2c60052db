"""Networks of torchvision: `torchvision:resnet18`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uniqueinfo.runs.models.library import library, loaded
from uniqueinfo.runs.models.source import ModelSource
from uniqueinfo.runs.models.weights import fill

if TYPE_CHECKING:
    from torch import nn


class Torchvision(ModelSource):
    """Classifiers of pictures, with a last layer for the outputs needed."""

    prefix = "torchvision"
    words = "torchvision:NAME"
    place = 2
    pixels = 224
    fresh_head = True

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """The published weights are those torchvision holds to be the best."""
        models = library("torchvision.models")
        network: nn.Module = loaded(argument, lambda: models.get_model(argument, weights=None, num_classes=outputs))
        if pretrained:
            published = loaded(argument, lambda: models.get_model(argument, weights="DEFAULT"))
            fill(network, published.state_dict(), f"torchvision:{argument}")
        return network


SOURCES = (Torchvision(),)
