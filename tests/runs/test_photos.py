"""Photos without a model named: a linear head on what a pretrained network sees, if one is at hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import uniqueinfo as ui
from tests.cli.calling import Caller
from uniqueinfo.errors import InputError
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.photos import seeing
from uniqueinfo.runs.photos.default import default_model
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.runs.photos.seeing import seen
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.runs.readers import Reading

PIXELS = 32


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten red and ten blue squares, in class folders."""
    home, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for channel, name in ((0, "red"), (2, "blue")):
        (home / name).mkdir()
        for number in range(10):
            pixels = rng.integers(0, 120, size=(PIXELS, PIXELS, 3), dtype=np.uint8)
            pixels[..., channel] += 100
            Image.fromarray(pixels).save(home / name / f"{number}.png")
    return home


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with weights of ResNet-18, here random ones."""
    torch.manual_seed(0)
    home = tmp_path_factory.mktemp("weights")
    state = {name: tensor.numpy() for name, tensor in ResNet18().state_dict().items()}
    np.savez(home / "resnet18_imagenet_backbone.npz", **state)
    return home


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torchvision", "torchvision.models", "timm", "efficientnet_lite_pytorch"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delenv("UNIQUEINFO_DATA", raising=False)


@pytest.mark.usefixtures("nothing_installed")
def test_weights_in_the_data_folder_are_used_where_nothing_is_installed(
    photos: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNIQUEINFO_DATA", str(weights))
    model, (said,) = default_model(photos)
    assert model.name == f"features:{weights / 'resnet18_imagenet_backbone.npz'}"
    assert model.pixels == 224
    assert "ResNet-18" in said


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_network_the_way_to_a_better_answer_is_said(photos: Path) -> None:
    model, (said,) = default_model(photos)
    assert model.name == "linear"
    assert "pip install 'uniqueinfo[vision]'" in said


def test_tables_stay_linear(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,y\n")
    assert default_model(tmp_path / "t.csv") == (ModelChoice("linear"), ())


def test_efficientnet_sees_what_its_own_normalization_shows_it() -> None:
    from uniqueinfo.runs.photos.efficientnet import OnImageNetColours
    from uniqueinfo.runs.readers.images import DEVIATION, MEAN

    pixels = torch.full((1, 3, 2, 2), 127.0)
    normalized = (pixels / 255 - torch.tensor(MEAN)[:, None, None]) / torch.tensor(DEVIATION)[:, None, None]
    torch.testing.assert_close(OnImageNetColours(nn.Identity())(normalized), torch.zeros(1, 3, 2, 2), atol=1e-5, rtol=0)


def test_the_real_efficientnet_has_features() -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="EfficientNet-Lite0 is not installed")
    network = ModelChoice("features:efficientnet-lite0").frozen()
    assert network is not None
    assert network(torch.zeros(1, 3, 224, 224)).shape == (1, 1280)


def job(photos: Path, weights: Path) -> Job:
    name = f"features:{weights / 'resnet18_imagenet_backbone.npz'}"
    return Job(photos, ModelChoice(name), reading=Reading(size=PIXELS))


def test_scores_are_those_of_a_head_on_the_features(photos: Path, weights: Path, tmp_path: Path) -> None:
    prepared = prepare(job(photos, weights))
    found = prepared.score(Run.open(tmp_path / "run", prepared.record()))
    network = prepared.job.model.frozen()
    assert network is not None
    with torch.inference_mode():
        X, X_val = (
            network(torch.from_numpy(np.stack([data.inputs[at] for at in range(len(data))]))).numpy()
            for data in (prepared.train, prepared.val)
        )
    wanted = ui.score_features(X, prepared.train.labels, X_val, prepared.val.labels)
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-3)


def test_features_are_computed_once(
    photos: Path, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(job(photos, weights))
    prepared.score(Run.open(tmp_path / "run", prepared.record()))
    monkeypatch.setattr(seeing, "_computed", None)
    assert ui.load(tmp_path / "run").origin.run.samples == 16


def test_damaged_features_are_computed_again(tmp_path: Path) -> None:
    network, inputs = nn.Flatten(), np.random.default_rng(0).normal(size=(3, 1, 2, 2)).astype(np.float32)
    before = seen(network, inputs, "train", tmp_path / "features", None)  # type: ignore[arg-type]
    (tmp_path / "features" / "train-000000.safetensors").write_bytes(b"broken")
    np.testing.assert_array_equal(seen(network, inputs, "train", tmp_path / "features", None), before)  # type: ignore[arg-type]


def test_a_dry_run_says_how_long_and_writes_nothing(
    photos: Path, weights: Path, tmp_path: Path, uniqueinfo: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = job(photos, weights).model.name
    said = uniqueinfo("score", photos, "--model", name, "--size", PIXELS, "--out", tmp_path / "run", "--dry-run")
    assert "513" in said.out
    assert list(tmp_path.iterdir()) == []


def test_new_photos_are_seen_by_the_same_network(
    photos: Path, weights: Path, tmp_path: Path, uniqueinfo: Caller
) -> None:
    name = job(photos, weights).model.name
    assert uniqueinfo("score", photos, "--model", name, "--size", PIXELS, "--out", tmp_path / "run").code == 0
    said = uniqueinfo("adversarial", tmp_path / "run", photos)
    assert said.code == 0, said.err


@pytest.mark.parametrize("name", ["features:nothing", "features:gone.npz"])
def test_a_network_of_no_known_kind_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=name):
        ModelChoice(name)
