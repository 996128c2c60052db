"""ResNet-50 as it was first published."""

from __future__ import annotations

from torch import Tensor, nn

from uniqueinfo.runs.photos.resnet import Block, ResNet


class ResNet50(ResNet):
    """ResNet-50; its `weights` lie in resnet50_imagenet_v1.npz.

    A stage halves its pictures in its first 1 × 1 convolution, as the weights were trained; torchvision's network of
    the same names does so in the 3 × 3 convolution, and would take them without a word for a worse network.
    """

    channels = 2048

    def stages(self) -> tuple[nn.Sequential, nn.Sequential, nn.Sequential, nn.Sequential]:
        """Of three, four, six and three blocks."""
        return (
            _stage(64, 64, 3, stride=1),
            _stage(256, 128, 4, stride=2),
            _stage(512, 256, 6, stride=2),
            _stage(1024, 512, 3, stride=2),
        )


class _Bottleneck(Block):
    """A 1 × 1, a 3 × 3 and a 1 × 1 convolution around a shortcut; the last has four times as many channels."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, 4 * channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * channels)
        if stride != 1 or channels_in != 4 * channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, 4 * channels, 1, stride=stride, bias=False), nn.BatchNorm2d(4 * channels)
            )

    def inner(self, x: Tensor) -> Tensor:
        """After the first two."""
        given: Tensor = self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))))
        return given

    @property
    def last(self) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
        """The third."""
        return self.conv3, self.bn3


def _stage(channels_in: int, channels: int, blocks: int, stride: int) -> nn.Sequential:
    further = (_Bottleneck(4 * channels, channels, 1) for _ in range(blocks - 1))
    return nn.Sequential(_Bottleneck(channels_in, channels, stride), *further)
