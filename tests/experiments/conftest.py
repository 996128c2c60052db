"""A data folder in which every data set of these experiments is small and made up, in its original format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.experiments.data import formats
from uniqueinfo.experiments import paper
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.runs.photos.resnet50 import ResNet50

TINY = paper.Sizes(samples=8, pixels=32, per_layer=4)


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    formats.mnist(folder, train=80)
    formats.svhn(folder)
    formats.cifar(folder)
    formats.photos(folder / "cats_dogs", ("cats", "dogs"), each=12)
    formats.photos(folder / "cassava", ("cbb", "cbsd", "cgm", "cmd", "healthy"), each=6)
    formats.reviews(folder, each=8)
    formats.glove(folder, width=100)
    torch.manual_seed(0)
    for network, name in ((ResNet18(), "resnet18_imagenet_backbone.npz"), (ResNet50(), "resnet50_imagenet_v1.npz")):
        state = network.state_dict()
        weights = {name: tensor.half().numpy() for name, tensor in state.items() if not name.startswith("fc.")}
        with (folder / name).open("wb") as file:
            np.savez(file, allow_pickle=False, **weights)
    return folder


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> paper.Sizes:
    monkeypatch.setitem(paper.SIZES, "small", TINY)
    return TINY
