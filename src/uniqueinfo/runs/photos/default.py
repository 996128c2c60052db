"""The network where nobody names one: for photos a pretrained one that is at hand, else a linear model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.choice import ModelChoice
from uniqueinfo.runs.readers.images import READERS
from uniqueinfo.runs.readers.reader import reader_of

_WEIGHTS = "resnet18_imagenet_backbone.npz"
"""Weights of ResNet-18 in the folder of the data sets."""


def default_model(train: Path) -> tuple[ModelChoice, tuple[str, ...]]:
    """The network for what lies at a path, and a sentence about it where there was something to choose."""
    linear = ModelChoice("linear")
    if not train.is_dir() or reader_of(train) not in READERS:
        return linear, ()
    for name, title in _known():
        found = ModelChoice(f"features:{name}")
        try:
            found.frozen()
        except InputError:  # not installed, or its weights are not to be had
            continue
        return found, (f"no --model named: a linear head on what {title}, pretrained on ImageNet, sees in the photos",)
    return linear, (
        "no --model named, and no pretrained network is at hand: a linear model sees colours, not what is in a photo. "
        "For a far better answer: pip install 'uniqueinfo[vision]', and score into another folder",
    )


def _known() -> Iterator[tuple[str, str]]:
    """Names and titles, in the order in which they are tried."""
    yield "torchvision:resnet18", "ResNet-18 (torchvision)"
    yield "timm:resnet18", "ResNet-18 (timm)"
    yield "efficientnet-lite0", "EfficientNet-Lite0"
    weights = Path(os.environ.get("UNIQUEINFO_DATA", "")) / _WEIGHTS
    if "UNIQUEINFO_DATA" in os.environ and weights.is_file():
        yield str(weights), f"ResNet-18 ({_WEIGHTS} in your data folder)"
