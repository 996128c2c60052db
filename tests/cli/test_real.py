"""`uniqueinfo score` on real digits and photos, through to the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.calling import Caller
from tests.realdata import FOLDER, arrays
from tests.runs.readers import files
from uniqueinfo.scores.folder import load_table as load


@pytest.mark.slow
def test_digits_as_idx_files_through_an_mlp(tmp_path: Path, uniqueinfo: Caller) -> None:
    digits = arrays("mnist_4v9.npz")
    for part, name in (("train", "train"), ("val", "t10k")):
        files.idx(tmp_path / f"{name}-images-idx3-ubyte", digits[f"x_{part}"][:400])
        files.idx(tmp_path / f"{name}-labels-idx1-ubyte", digits[f"y_{part}"][:400])
    train, val = (tmp_path / f"{name}-images-idx3-ubyte" for name in ("train", "t10k"))
    run = tmp_path / "run"
    assert uniqueinfo("score", train, "--val", val, "--model", "mlp:1024", "--out", run).code == 0
    scores = load(run)
    assert scores.settings["classes"] == [4, 9]
    assert np.mean((scores.loo_outputs > 0.5) == (scores.targets > 0.5)) > 0.9
    assert (run / "report.html").stat().st_size < 2e6


@pytest.mark.slow
def test_photos_in_folders_through_a_resnet(tmp_path: Path, uniqueinfo: Caller) -> None:
    photos = arrays("cats_dogs_224.npz")
    for label, name in enumerate(("cat", "dog")):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in np.flatnonzero(photos["label"] == label)[:10]:
            start, stop = photos["offset"][number : number + 2]
            (tmp_path / "photos" / name / f"{number}.jpg").write_bytes(photos["jpeg"][start:stop].tobytes())
    arrays("resnet18_imagenet_backbone.npz")  # skips where it is missing
    (tmp_path / "net.py").write_text(
        "from pathlib import Path\n"
        "from uniqueinfo.runs.photos.resnet18 import ResNet18\n"
        "def resnet18(outputs):\n"
        f"    return ResNet18(outputs, Path({str(FOLDER / 'resnet18_imagenet_backbone.npz')!r}))\n"
    )
    command = ("score", tmp_path / "photos", "--model", f"{tmp_path / 'net.py'}:resnet18", "--projection", 200)
    answer = uniqueinfo(*command, "--out", tmp_path / "run")
    assert answer.code == 0
    assert answer.err.count("BatchNorm") == 1
    assert len(load(tmp_path / "run")) == 16
    assert "data:image/jpeg" in (tmp_path / "run" / "report.html").read_text()
