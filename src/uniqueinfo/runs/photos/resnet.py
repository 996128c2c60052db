"""What ResNets of all depths share, with torchvision's parameter names, for weights that lie in a file."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from uniqueinfo.runs.photos.npz_weights import fill_from_npz


class Block(nn.Module):
    """Convolutions around a shortcut; `downsample` fits the shortcut where it has another size."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None

    @abstractmethod
    def inner(self, x: Tensor) -> Tensor:
        """What the last convolution is given."""

    @property
    @abstractmethod
    def last(self) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
        """The last convolution, and what follows it."""

    def forward(self, x: Tensor) -> Tensor:
        """The same block for all depths."""
        shortcut = x if self.downsample is None else self.downsample(x)
        convolution, normalization = self.last
        y = normalization(convolution(self.inner(x)))
        y += shortcut
        activated: Tensor = self.relu(y)
        return activated


class ResNet(nn.Module):
    """A ResNet for images of any size; `weights` (an .npz) fills all but the last layer.

    Normalize images by mean (0.485, 0.456, 0.406) and deviation (0.229, 0.224, 0.225) of the channels.
    """

    channels: ClassVar[int]
    """That the last layer is given."""

    def __init__(self, outputs: int = 1, weights: Path | None = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1, self.layer2, self.layer3, self.layer4 = self.stages()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(self.channels, outputs)
        if weights is not None:
            fill_from_npz(self, weights, fresh="fc.")

    @abstractmethod
    def stages(self) -> tuple[nn.Sequential, nn.Sequential, nn.Sequential, nn.Sequential]:
        """Four, of blocks; all but the first halve their pictures."""

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
    """A ResNet up to its last convolution: what that is given, and what its block adds to it, one above the other."""

    def __init__(self, network: ResNet) -> None:
        super().__init__()
        *first, last = network.layer4
        self.last = cast(Block, last)
        stages = (network.layer1, network.layer2, network.layer3, *first)
        self.before = nn.Sequential(network.conv1, network.bn1, network.relu, network.maxpool, *stages)

    def forward(self, images: Tensor) -> Tensor:
        x = self.before(images)
        return torch.cat([self.last.inner(x), x], dim=1)


class _Tail(nn.Module):
    """A ResNet from its last convolution on."""

    def __init__(self, network: ResNet) -> None:
        super().__init__()
        self.conv, self.bn = cast(Block, network.layer4[-1]).last
        self.avgpool, self.fc = network.avgpool, network.fc

    def forward(self, given: Tensor) -> Tensor:
        y, shortcut = torch.split(given, [self.conv.in_channels, self.conv.out_channels], dim=1)
        outputs: Tensor = self.fc(self.avgpool(torch.relu(self.bn(self.conv(y)) + shortcut)).flatten(1))
        return outputs
