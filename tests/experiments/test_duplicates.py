from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from uniqueinfo.experiments import duplicates
from uniqueinfo.experiments.data import Part
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.experiments.duplicates import KINDS, Planted, plant
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.experiments.runner import Request


def _digits(count: int, seed: int) -> Part[Pixels]:
    pictures = np.random.default_rng(seed).integers(0, 256, (count, 28, 28), dtype=np.uint8)
    return Part(Pixels(pictures), np.arange(count) % 2, np.array([f"digit {i}" for i in range(count)]))


@pytest.fixture(scope="module")
def given() -> Planted:
    return plant(_digits(40, 0), _digits(20, 1), each=3, seed=0)


@pytest.mark.parametrize("where", ["train", "validation"])
def test_pairs_are_of_a_digit_and_its_copy(given: Planted, where: str) -> None:
    originals, part = given.train.inputs.array[:40], given.train if where == "train" else given.val
    for kind in KINDS:
        pairs = given.pairs(kind, where)
        assert len(pairs) == 3
        for source, copy in pairs:
            picture, copied = originals[source].astype(int), part.inputs.array[copy].astype(int)
            shifts = [np.roll(picture, shift, (0, 1)) for shift in ((0, 1), (0, -1), (1, 0), (-1, 0))]
            assert np.array_equal(picture, copied) == (kind == "exact")
            assert any(np.array_equal(shifted, copied) for shifted in shifts) == (kind == "shift")
            assert (0 < np.abs(picture - copied).mean() < 20) == (kind == "noise")
            assert part.labels[copy] == given.train.labels[source]


def test_no_digit_is_copied_twice_and_the_others_stay(given: Planted) -> None:
    assert len(np.unique(given.sources)) == len(given.sources) == 18
    assert given.originals == (40, 20)
    np.testing.assert_array_equal(given.val.inputs.array[:20], _digits(20, 1).inputs.array)


@pytest.mark.slow
def test_exact_copies_are_found_by_both_networks_and_in_pixels(
    made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(duplicates._SIZES, "small", {"samples": 8, "each": 1, "seed": 1})
    weights = {name: tensor.numpy() for name, tensor in paper_cnn(26).state_dict().items()}
    np.savez(tmp_path / "cnn.npz", allow_pickle=False, **weights)
    monkeypatch.setattr(duplicates, "emnist_cnn", lambda folder: tmp_path / "cnn.npz")
    result = duplicates.run(Request(data=made_up, work=tmp_path))
    exact = result.table[result.table["kind"] == "exact"]
    assert set(exact["seen by"]) == {"MLP", "CNN pretrained on letters", "pixels"}
    assert (exact["found"] == 1).all()
    held = [claim.holds for claim in result.claims if "exact pairs" in claim.what]
    assert held == (exact["named"] == 1).tolist()
