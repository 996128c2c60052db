"""A linear head on what a pretrained network sees in pictures: `features:torchvision:resnet18`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.from_timm import Timm
from uniqueinfo.runs.models.from_torchvision import Torchvision
from uniqueinfo.runs.models.source import ModelSource

if TYPE_CHECKING:
    from torch import nn

_LITE = "efficientnet-lite0"
_LIBRARIES = {source.prefix: source for source in (Torchvision(), Timm())}


class Features(ModelSource):
    """The head alone is trained; the network before it stays as it was published."""

    prefix = "features"
    words = "features:NETWORK"
    place = 5
    pixels = 224
    linear = True

    def check(self, argument: str) -> None:
        """Refuse a network of no known kind."""
        _maker(argument)

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """The head as a network of its own, from zero."""
        from torch import nn

        head = nn.Linear(math.prod(shape), outputs)
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)
        return head

    def frozen(self, argument: str) -> nn.Module:
        """The network without its last layer."""
        return _maker(argument)()

    def files(self, argument: str) -> tuple[Path, ...]:
        """The file of the weights, where they lie in one."""
        if argument == _LITE:
            from uniqueinfo.runs.photos.efficientnet import weights_file

            return (weights_file(),)
        return (Path(argument),) if argument.endswith(".npz") else ()

    def absolute(self, argument: str) -> str:
        """With the whole path of a file."""
        return f"{self.prefix}:{Path(argument).resolve() if argument.endswith('.npz') else argument}"


def _maker(argument: str) -> Callable[[], nn.Module]:
    """How to come to the network of this name."""
    library, _, name = argument.partition(":")
    if library in _LIBRARIES and name:
        return lambda: _headless(_LIBRARIES[library].build(name, 1, True, (3, 224, 224)))
    if argument == _LITE:
        return _lite
    if argument.endswith(".npz"):
        if not Path(argument).is_file():
            raise InputError(f"--model features:{argument}: there is no such file; check the path")
        return lambda: _resnet18(Path(argument))
    raise InputError(
        f"--model features:{argument}: unknown; give features:torchvision:NAME, features:timm:NAME, features:{_LITE}, "
        "or features:FILE.npz of ResNet-18's weights by torchvision's names"
    )


def _headless(network: nn.Module) -> nn.Module:
    """Without the layer that has the last parameters."""
    from torch import nn

    last = [name for name, _ in network.named_parameters()][-1].rpartition(".")[0]
    parent, _, name = last.rpartition(".")
    setattr(network.get_submodule(parent), name, nn.Identity())
    return network


def _lite() -> nn.Module:
    from uniqueinfo.runs.photos.efficientnet import OnImageNetColours, efficientnet_lite0

    return OnImageNetColours(_headless(efficientnet_lite0(1)))


def _resnet18(weights: Path) -> nn.Module:
    from uniqueinfo.runs.photos.resnet18 import ResNet18

    return _headless(ResNet18(1, weights))


SOURCES = (Features(),)
