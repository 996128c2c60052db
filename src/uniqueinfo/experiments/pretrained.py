"""Networks pretrained on ImageNet, each with the preparation of pictures it was trained with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data import Preparation, imagenet, resnet18, resnet50
from uniqueinfo.experiments.runner import Request
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.photos.efficientnet import efficientnet_lite0
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.runs.photos.resnet50 import ResNet50


@dataclass(frozen=True)
class Pretrained:
    """A pretrained network by name."""

    title: str
    make: Callable[[Request, int, int], nn.Module]
    """From the request, the number of outputs and the pixels a side."""
    preparation: Callable[[int], Preparation] = imagenet
    head: str = "fc"
    """The name of its last layer."""

    def build(self, request: Request, outputs: int, pixels: int, seed: int | None = None) -> nn.Module:
        """In eval mode, with a fresh last layer; refuses where its weights are not to be had."""
        torch.manual_seed(request.seed if seed is None else seed)
        return self.make(request, outputs, pixels).eval()

    def features(self, request: Request, pixels: int) -> nn.Module:
        """The network without its last layer."""
        network = self.build(request, 1, pixels)
        setattr(network, self.head, nn.Identity())
        return network


def _resnet18(request: Request, outputs: int, pixels: int) -> nn.Module:
    return ResNet18(outputs, resnet18(request.data))


def _resnet50(request: Request, outputs: int, pixels: int) -> nn.Module:
    return ResNet50(outputs, resnet50(request.data))


def _torchvision(name: str) -> Callable[[Request, int, int], nn.Module]:
    def make(request: Request, outputs: int, pixels: int) -> nn.Module:
        try:
            return ModelChoice(f"torchvision:{name}").build((3, pixels, pixels), outputs, request.seed)
        except InputError as missing:
            raise InputError(
                f"torchvision's {name} and its published weights cannot be had; install torchvision and download them"
            ) from missing

    return make


def _efficientnet(request: Request, outputs: int, pixels: int) -> nn.Module:
    return efficientnet_lite0(outputs, pixels)


def _lite(pixels: int) -> Preparation:
    return Preparation((127 / 255,) * 3, (128 / 255,) * 3, pixels)


RESNET18 = Pretrained("ResNet-18", _resnet18)
RESNET34 = Pretrained("ResNet-34", _torchvision("resnet34"))
RESNET50 = Pretrained("ResNet-50", _resnet50)
DENSENET121 = Pretrained("DenseNet-121", _torchvision("densenet121"), head="classifier")
EFFICIENTNET = Pretrained("EfficientNet-Lite0", _efficientnet, _lite, "_fc")
