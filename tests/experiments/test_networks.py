from pathlib import Path

import numpy as np
import pytest
import torch

from tests import realdata
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.networks import mlp, paper_cnn
from uniqueinfo.runs.photos.resnet18 import ResNet18


def test_the_mlp_is_the_papers() -> None:
    assert sum(p.numel() for p in mlp().parameters()) == 785 * 1024 + 1025


def test_the_pretrained_cnn_reads_letters() -> None:
    file = realdata.path("emnist_letters_cnn_pretrained.npz")
    network = paper_cnn(outputs=26)
    with np.load(file) as arrays:
        network.load_state_dict({name: torch.from_numpy(arrays[name]) for name in arrays.files})
    with np.load(realdata.path("mnist_10c.npz")) as digits:
        zeros = digits["x_val"][digits["y_val"] == 0]
    images = (torch.from_numpy(zeros).float().mT[:, None] / 255 - 0.456) / 0.224
    letters = network(images).argmax(1)
    assert float((letters == 14).float().mean()) > 0.8  # 0 is read as the letter O


def test_the_cnn_takes_all_but_its_last_layer_from_the_file() -> None:
    network = paper_cnn(3, realdata.path("emnist_letters_cnn_pretrained.npz"))
    with np.load(realdata.path("emnist_letters_cnn_pretrained.npz")) as arrays:
        assert torch.equal(network.get_parameter("6.weight"), torch.from_numpy(arrays["6.weight"]))
    assert network.get_parameter("11.weight").shape == (3, 256)


def test_resnet_takes_the_backbone_from_the_file() -> None:
    network = ResNet18(2, realdata.path("resnet18_imagenet_backbone.npz"))
    with np.load(realdata.path("resnet18_imagenet_backbone.npz")) as arrays:
        names = set(arrays.files)
        assert torch.equal(network.get_buffer("bn1.running_var"), torch.from_numpy(arrays["bn1.running_var"]))
    own = {name for name in network.state_dict() if not name.endswith("num_batches_tracked")}
    assert own - names == {"fc.weight", "fc.bias"}


def test_a_file_of_another_network_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(InputError, match=r"holds no '0\.weight'"):
        paper_cnn(1, tmp_path / "other.npz")
