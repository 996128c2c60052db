"""ResNet-18."""

from __future__ import annotations

from torch import Tensor, nn

from uniqueinfo.runs.photos.resnet import Block, ResNet


class ResNet18(ResNet):
    """ResNet-18; its `weights` lie in resnet18_imagenet_backbone.npz."""

    channels = 512

    def stages(self) -> tuple[nn.Sequential, nn.Sequential, nn.Sequential, nn.Sequential]:
        """Of two blocks each."""
        return (
            _stage(64, 64, stride=1),
            _stage(64, 128, stride=2),
            _stage(128, 256, stride=2),
            _stage(256, 512, stride=2),
        )


class _TwoConvolutions(Block):
    """Two 3 × 3 convolutions around a shortcut."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False), nn.BatchNorm2d(channels)
            )

    def inner(self, x: Tensor) -> Tensor:
        """After the first convolution."""
        given: Tensor = self.relu(self.bn1(self.conv1(x)))
        return given

    @property
    def last(self) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
        """The second."""
        return self.conv2, self.bn2


def _stage(channels_in: int, channels: int, stride: int) -> nn.Sequential:
    return nn.Sequential(_TwoConvolutions(channels_in, channels, stride), _TwoConvolutions(channels, channels, 1))
