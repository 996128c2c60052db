"""ResNet-18 with torchvision's parameter names, for weights that lie in a file."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError


class ResNet18(nn.Module):
    """ResNet-18 for images of any size; `weights` (resnet18_imagenet_backbone.npz) fills all but the last layer.

    Normalize images by mean (0.485, 0.456, 0.406) and deviation (0.229, 0.224, 0.225) of the channels.
    """

    def __init__(self, outputs: int = 1, weights: Path | None = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(64, 64, stride=1)
        self.layer2 = _stage(64, 128, stride=2)
        self.layer3 = _stage(128, 256, stride=2)
        self.layer4 = _stage(256, 512, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, outputs)
        if weights is not None:
            fill_from_npz(self, weights, fresh="fc.")

    def forward(self, x: Tensor) -> Tensor:
        """Images (b, 3, height, width) → outputs (b, k)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        outputs: Tensor = self.fc(self.avgpool(x).flatten(1))
        return outputs

    def parted(self) -> tuple[nn.Module, nn.Module]:
        """All before the last convolution, and the rest, which takes what that gives: the same network in a row."""
        return _Front(self), _Tail(self)


class _Front(nn.Module):
    """ResNet-18 up to its last convolution: what that is given, and what its block adds to it, one above the other."""

    def __init__(self, network: ResNet18) -> None:
        super().__init__()
        first, self.last = network.layer4[0], cast(_Block, network.layer4[1])
        stages = (network.layer1, network.layer2, network.layer3, first)
        self.before = nn.Sequential(network.conv1, network.bn1, network.relu, network.maxpool, *stages)

    def forward(self, images: Tensor) -> Tensor:
        x = self.before(images)
        return torch.cat([self.last.relu(self.last.bn1(self.last.conv1(x))), x], dim=1)


class _Tail(nn.Module):
    """ResNet-18 from its last convolution on."""

    def __init__(self, network: ResNet18) -> None:
        super().__init__()
        last = cast(_Block, network.layer4[1])
        self.conv, self.bn, self.avgpool, self.fc = last.conv2, last.bn2, network.avgpool, network.fc

    def forward(self, given: Tensor) -> Tensor:
        y, shortcut = given.chunk(2, dim=1)
        outputs: Tensor = self.fc(self.avgpool(torch.relu(self.bn(self.conv(y)) + shortcut)).flatten(1))
        return outputs


class _Block(nn.Module):
    """Two 3 × 3 convolutions around a shortcut."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += shortcut
        activated: Tensor = self.relu(y)
        return activated


def _stage(channels_in: int, channels: int, stride: int) -> nn.Sequential:
    return nn.Sequential(_Block(channels_in, channels, stride), _Block(channels, channels, 1))


def fill_from_npz(network: nn.Module, file: Path, fresh: str) -> None:
    """Fill a network from an .npz of tensors by name; parameters whose names start with `fresh` stay new."""
    with np.load(file, allow_pickle=False) as arrays:
        stored = {name: torch.from_numpy(arrays[name]).float() for name in arrays.files}
    own = {name: tensor for name, tensor in network.state_dict().items() if not name.startswith(fresh)}
    missing = [name for name in own if name not in stored and not name.endswith("num_batches_tracked")]
    if missing:
        raise InputError(f"{file} holds no {missing[0]!r}: it is not a file of weights for this network; name another")
    network.load_state_dict({name: stored[name] for name in own if name in stored}, strict=False)
