from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from uniqueinfo.applications.subclasses import subclasses as application
from uniqueinfo.experiments import subclasses
from uniqueinfo.experiments.runner import Request

_COLOURS = {3: (200, 30, 30), 4: (30, 200, 30), 5: (30, 30, 200)}  # cat, deer, dog


def _pictures(animals: list[int], rng: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    noise = rng.normal(scale=25, size=(len(animals), 32, 32, 3))
    colours = np.array([_COLOURS[animal] for animal in animals])[:, None, None]
    return np.clip(colours + noise, 0, 255).astype(np.uint8)


@pytest.mark.slow
def test_rows_and_claims_are_of_the_whole_network_and_of_every_draw_and_training(
    made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    train, test = [4] * 30 + [5] * 26 + [3] * 4, [3, 4, 5] * 4
    arrays = {
        "x_train": _pictures(train, rng),
        "y_train": np.array(train),
        "i_train": np.arange(60),
        "x_test": _pictures(test, rng),
        "y_test": np.array(test),
        "i_test": np.arange(12),
        "x_extra_cat": _pictures([3] * 4, rng),
        "i_extra_cat": np.arange(100, 104),
    }
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "cifar10_pets_vs_deer.npz", allow_pickle=False, **arrays)
    weights = "resnet18_imagenet_backbone.npz"
    (tmp_path / "data" / weights).symlink_to(made_up / weights)
    tiny = {"pictures": 60, "validation": 12, "pixels": 32, "per_layer": 20, "draws": 2}
    monkeypatch.setitem(subclasses._SIZES, "small", tiny)
    monkeypatch.setattr(subclasses, "subclasses", partial(application, share=1.0))
    result = subclasses.run(Request(data=tmp_path / "data", work=tmp_path / "work"))
    last = [[draw, "last layer alone", training] for draw in (0, 1) for training in ("paper's", "automatic")]
    assert result.table[["draw", "network", "training"]].values.tolist() == [[0, "ResNet-18", "paper's"], *last]
    assert np.allclose(result.table["share"], 4 / 30)
    assert np.allclose(result.table["enrichment"], result.table["purity"] / result.table["share"])
    assert np.allclose(result.table["enrichment_unclustered"], 1)  # all pets were taken
    assert (result.table["recall"] == 1).all()  # red among blue
    first = result.claims[0]
    row = result.table.iloc[0]
    assert first.ours == pytest.approx(row["mean_cat"] / row["mean_dog"])
