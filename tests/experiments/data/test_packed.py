from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tests import realdata
from uniqueinfo.experiments.data import MNIST, animals, emnist_cnn, features, glove, imagenet, load, resnet18, resnet50
from uniqueinfo.experiments.data.dataset import Part
from uniqueinfo.experiments.data.pictures import Pixels, Prepared
from uniqueinfo.experiments.networks import paper_cnn

SIZES: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "mnist_4v9": ("mnist_4v9.npz", {"train": (491, 509), "val": (482, 518), "test": (982, 1009)}),
    "cats_dogs": ("cats_dogs_224.npz", {"train": (500, 500), "val": (500, 500)}),
    "cassava": ("cassava_224.npz", {"train": (90, 271, 149, 435, 55), "val": (78, 262, 119, 470, 71)}),
    "svhn": (
        "svhn_10c.npz",
        {"test": (122, 409, 317, 218, 186, 165, 156, 154, 140, 133)},
    ),
    "emnist_letters": ("emnist_letters_26c.npz", {"train": (500,) * 26, "test": (100,) * 26}),
    "pets_vs_deer": ("cifar10_pets_vs_deer.npz", {"train": (4000, 4200), "test": (1000, 2000), "extra": (0, 800)}),
}


@pytest.mark.parametrize("name", SIZES)
def test_packed_data_has_the_classes_it_should(name: str) -> None:
    file, sizes = SIZES[name]
    data = load(name, realdata.path(file).parent)
    for part, counts in sizes.items():
        assert np.bincount(data[part].labels).tolist() == list(counts)


def test_rare_pets_are_known_by_name() -> None:
    train = load("pets_vs_deer", realdata.path("cifar10_pets_vs_deer.npz").parent)["train"]
    found, counts = np.unique(animals(train), return_counts=True)
    assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == {"cat": 200, "deer": 4000, "dog": 4000}


def test_reviews_are_split_without_overlap_and_most_words_have_vectors() -> None:
    folder = realdata.path("imdb_4000.jsonl").parent
    data = load("imdb", folder)
    assert len(data["train"]) == len(data["val"]) == 2000
    assert set(data["train"].names).isdisjoint(data["val"].names)
    means = glove(folder).means(data["val"].draw(50).inputs)
    assert means.shape == (50, 100)
    assert (np.abs(means).max(axis=1) > 0).all()


def test_photos_are_prepared_as_imagenet_networks_expect() -> None:
    part = load("cats_dogs", realdata.path("cats_dogs_224.npz").parent)["train"]
    image, label = Prepared(part, imagenet(64))[3]
    assert image.shape == (3, 64, 64)
    assert label == part.labels[3]
    raw = np.asarray(part.inputs[3].resize((64, 64)), dtype=np.float64) / 255
    assert image[0].mean().item() == pytest.approx((raw[..., 0].mean() - 0.485) / 0.229, abs=0.02)


def test_weights_are_found() -> None:
    folder = realdata.path("resnet18_imagenet_backbone.npz").parent
    assert resnet18(folder).is_file()
    assert resnet50(realdata.path("resnet50_imagenet_v1.npz").parent).is_file()
    assert paper_cnn(2, emnist_cnn(folder))(torch.zeros(1, 1, 28, 28)).shape == (1, 2)


def test_features_are_those_of_the_network_and_come_from_the_cache_the_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    pictures = Pixels(rng.integers(0, 256, (7, 28, 28), dtype=np.uint8))
    part = Part(pictures, np.zeros(7, dtype=np.int64), np.array([f"{i}" for i in range(7)]))
    network = nn.Sequential(nn.Flatten(), nn.Linear(784, 5), nn.Dropout(0.5))
    found = features(network, part, MNIST, tmp_path)
    with torch.no_grad():
        wanted = network.eval()(MNIST.all(part.inputs)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)  # float32, another batch
    assert len(features(network, part.take([0]), MNIST, tmp_path)) == 1

    def never(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(import_module("uniqueinfo.experiments.data.features"), "_compute", never)
    np.testing.assert_array_equal(features(network, part, MNIST, tmp_path), found)


def test_computing_features_leaves_the_mode_of_the_network_alone() -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(784, 2)).train()
    part = Part(Pixels(np.zeros((1, 28, 28), dtype=np.uint8)), np.zeros(1, dtype=np.int64), np.array(["a"]))
    features(network, part, MNIST)
    assert network.training
