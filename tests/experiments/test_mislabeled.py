from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests import realdata
from tests.experiments.data import formats
from uniqueinfo.experiments import mislabeled, paper
from uniqueinfo.experiments.labelnoise import cleanlab_quality, noisy, ranking
from uniqueinfo.experiments.runner import Request
from uniqueinfo.removal import stopping

SIZES = paper.Sizes(samples=50, pixels=32, per_layer=5)


def test_a_tenth_of_the_labels_is_wrong_and_evenly_so() -> None:
    labels = np.arange(3000) % 3
    given, wrong = noisy(labels, 3, seed=0)
    assert wrong.sum() == 300
    np.testing.assert_array_equal(given != labels, wrong)
    moved = np.bincount((given - labels)[wrong] % 3, minlength=3)
    assert abs(moved[1] - moved[2]) < 5 * np.sqrt(300)  # five standard deviations of 300 fair coins


def test_wrong_labels_are_those_of_the_seed() -> None:
    labels = np.zeros(100, dtype=np.int64)
    np.testing.assert_array_equal(noisy(labels, 2, 1)[0], noisy(labels, 2, 1)[0])
    assert not np.array_equal(noisy(labels, 2, 1)[0], noisy(labels, 2, 2)[0])


def test_rankings_are_judged_from_best_to_worst() -> None:
    wrong = np.array([True, False, False, True])
    assert ranking(np.array([3.0, 1.0, 0.0, 2.0]), wrong) == {
        "auroc": 1.0,
        "average_precision": 1.0,
        "precision_at_noise_rate": 1.0,
    }
    assert ranking(np.array([0.0, 2.0, 3.0, 1.0]), wrong)["auroc"] == 0.0
    assert ranking(np.array([3.0, 2.0, 0.0, 1.0]), wrong)["precision_at_noise_rate"] == 0.5


def test_cross_validation_finds_labels_far_from_their_class() -> None:
    pytest.importorskip("cleanlab")
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    inputs = rng.normal(size=(200, 3)) + 4 * labels[:, None]
    given, wrong = noisy(labels, 2, seed=0)
    quality = cleanlab_quality(inputs, given, seed=0)
    assert quality is not None
    assert ranking(-quality, wrong)["auroc"] > 0.95


@pytest.fixture
def folder(made_up: Path, tmp_path: Path) -> Path:
    """Real digits, whose wrong labels can be found, beside made-up photographs, enough of a class for five folds."""
    found = tmp_path / "data"
    formats.photos(found / "cats_dogs", ("cats", "dogs"), each=40)
    formats.photos(found / "cassava", ("cbb", "cbsd", "cgm", "cmd", "healthy"), each=20)
    for path in (realdata.path("mnist_4v9.npz"), made_up / "resnet18_imagenet_backbone.npz"):
        (found / path.name).symlink_to(path)
    return found


@pytest.mark.slow
def test_every_criterion_is_judged_at_every_time(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mislabeled, "_SAMPLES", 60)
    monkeypatch.setattr(mislabeled, "_SEEDS", 2)
    monkeypatch.setitem(paper.SIZES, "small", SIZES)
    monkeypatch.setattr(stopping, "_STEPS", stopping._STEPS[::4])  # the automatic time need not be fine
    result = mislabeled.run(Request("small", folder, work=tmp_path / "work"))
    judged = result.table.groupby(["data", "time"])["criterion"].agg(set)
    criteria = {"panel", "margin", "information", "training loss"} | ({"cleanlab"} if find_spec("cleanlab") else set())
    assert judged.tolist() == [criteria] * (4 * 3)
    assert set(result.table["seed"]) == {0, 1}
    margin = result.table[result.table["criterion"] == "margin"].groupby("data")["auroc"].mean()
    assert margin["MNIST, pixels from 0 to 1"] > 0.7
    ratios = [claim for claim in result.claims if claim.paper == "wrong ≫ right"]
    assert len(ratios) == 4
    for claim in ratios:
        assert claim.low is not None
        assert claim.high is not None
        assert claim.low <= float(claim.ours) <= claim.high
        assert claim.holds == (claim.low > 1)
