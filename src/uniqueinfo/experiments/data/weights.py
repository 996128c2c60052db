"""Weights of pretrained networks in the data folder."""

from __future__ import annotations

from pathlib import Path

from uniqueinfo.experiments.data.files import find, missing


def resnet18(folder: Path | None) -> Path:
    """ResNet-18's, of ImageNet, without its last layer."""
    return _file("ResNet-18", folder, "resnet18_imagenet_backbone.npz", "torchvision's names, saved with np.savez")


def resnet50(folder: Path | None) -> Path:
    """ResNet-50's, of ImageNet, with strides as first published."""
    return _file("ResNet-50", folder, "resnet50_imagenet_v1.npz", "torchvision's names, saved with np.savez")


def emnist_cnn(folder: Path | None) -> Path:
    """The paper's CNN, pretrained on EMNIST letters."""
    return _file("the EMNIST CNN", folder, "emnist_letters_cnn_pretrained.npz", "tensors by name, saved with np.savez")


def _file(what: str, folder: Path | None, name: str, where: str) -> Path:
    path = None if folder is None else find(folder, name)
    if path is None:
        raise missing(f"the weights of {what}", folder, [name], where)
    return path
