"""ResNet-50 as it was first published, with torchvision's parameter names, for weights that lie in a file."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from uniqueinfo.runs.photos.resnet18 import fill_from_npz


class ResNet50(nn.Module):
    """ResNet-50 for images of any size; `weights` (resnet50_imagenet_v1.npz) fills all but the last layer.

    A stage halves its pictures in its first 1 × 1 convolution, as the weights were trained; torchvision's network of
    the same names does so in the 3 × 3 convolution, and would take them without a word for a worse network.
    Normalize images by mean (0.485, 0.456, 0.406) and deviation (0.229, 0.224, 0.225) of the channels.
    """

    def __init__(self, outputs: int = 1, weights: Path | None = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(64, 64, 3, stride=1)
        self.layer2 = _stage(256, 128, 4, stride=2)
        self.layer3 = _stage(512, 256, 6, stride=2)
        self.layer4 = _stage(1024, 512, 3, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2048, outputs)
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
    """ResNet-50 up to its last convolution: what that is given, and what its block adds to it, one above the other."""

    def __init__(self, network: ResNet50) -> None:
        super().__init__()
        *first, last = network.layer4
        self.last = cast(_Bottleneck, last)
        stages = (network.layer1, network.layer2, network.layer3, *first)
        self.before = nn.Sequential(network.conv1, network.bn1, network.relu, network.maxpool, *stages)

    def forward(self, images: Tensor) -> Tensor:
        x = self.before(images)
        return torch.cat([self.last.inner(x), x], dim=1)


class _Tail(nn.Module):
    """ResNet-50 from its last convolution on."""

    def __init__(self, network: ResNet50) -> None:
        super().__init__()
        last = cast(_Bottleneck, network.layer4[-1])
        self.conv, self.bn, self.avgpool, self.fc = last.conv3, last.bn3, network.avgpool, network.fc

    def forward(self, given: Tensor) -> Tensor:
        y, shortcut = torch.split(given, [self.conv.in_channels, self.conv.out_channels], dim=1)
        outputs: Tensor = self.fc(self.avgpool(torch.relu(self.bn(self.conv(y)) + shortcut)).flatten(1))
        return outputs


class _Bottleneck(nn.Module):
    """A 1 × 1, a 3 × 3 and a 1 × 1 convolution around a shortcut; the last has four times as many channels."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, 4 * channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels_in != 4 * channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, 4 * channels, 1, stride=stride, bias=False), nn.BatchNorm2d(4 * channels)
            )

    def inner(self, x: Tensor) -> Tensor:
        """What the last convolution is given."""
        given: Tensor = self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))))
        return given

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.bn3(self.conv3(self.inner(x)))
        y += shortcut
        activated: Tensor = self.relu(y)
        return activated


def _stage(channels_in: int, channels: int, blocks: int, stride: int) -> nn.Sequential:
    further = (_Bottleneck(4 * channels, channels, 1) for _ in range(blocks - 1))
    return nn.Sequential(_Bottleneck(channels_in, channels, stride), *further)
