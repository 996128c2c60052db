"""Arrays in .npz, .npy and IDX files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.runs.readers import files
from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Data, Reading, read


def test_idx_images_are_pixels_with_a_channel_and_their_labels_lie_beside(tmp_path: Path) -> None:
    images = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10
    files.idx(tmp_path / "train-labels-idx1-ubyte", np.array([4, 9], np.uint8))
    data = read(files.idx(tmp_path / "train-images-idx3-ubyte", images), Reading())
    np.testing.assert_allclose(data.inputs, images[:, None] / 255, rtol=1e-6)
    assert data.labels is not None
    assert data.labels.tolist() == [4, 9]
    shown = data.show(1)
    assert isinstance(shown, Image.Image)
    np.testing.assert_array_equal(np.asarray(shown), images[1])


def test_compressed_idx_is_read_too(tmp_path: Path) -> None:
    plain = files.idx(tmp_path / "images", np.ones((2, 3, 3), np.uint8))
    (tmp_path / "images.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert read(tmp_path / "images.gz", Reading(), labelled=False).inputs.shape == (2, 1, 3, 3)


def test_idx_labels_are_not_taken_for_inputs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name the file of the images"):
        read(files.idx(tmp_path / "train-labels-idx1-ubyte", np.zeros(3, np.uint8)), Reading())


def test_npy_takes_its_labels_from_beside(tmp_path: Path) -> None:
    np.save(tmp_path / "X_train.npy", np.eye(3))
    np.save(tmp_path / "y_train.npy", [0.5, 1.5, 2.5])
    labels = read(tmp_path / "X_train.npy", Reading()).labels
    assert labels is not None
    assert labels.tolist() == [0.5, 1.5, 2.5]


def test_further_arrays_of_an_npz_travel_along(tmp_path: Path) -> None:
    source = np.array(["web", "lab"] * 12)
    data = read(files.npz(tmp_path / "a.npz", source=source, id=np.arange(100, 124)), Reading())
    assert data.columns is not None
    assert data.columns["source"].tolist() == ["web", "lab"] * 12
    assert data.ids[0] == 100


def test_colour_pictures_of_bytes_get_their_channels_first(tmp_path: Path) -> None:
    pixels = np.zeros((2, 5, 4, 3), np.uint8)
    np.savez(tmp_path / "a.npz", X=pixels, y=[0, 1])
    assert read(tmp_path / "a.npz", Reading()).inputs.shape == (2, 3, 5, 4)


def test_whole_numbers_are_regression_targets_if_asked(tmp_path: Path) -> None:
    labels = read(files.npz(tmp_path / "a.npz"), Reading(task="regression")).labels
    assert labels is not None
    assert labels.dtype == np.float64


def test_the_fingerprint_knows_contents_and_not_places(tmp_path: Path) -> None:
    def fingerprint(place: str, seed: int) -> str:
        (tmp_path / place / "data").mkdir(parents=True)
        found: Data = read(files.npz(tmp_path / place / "data" / "a.npz", seed=seed), Reading())
        return found.fingerprint()

    # An .npz holds the time it was written, so the same bytes are copied.
    first = fingerprint("here", seed=0)
    (tmp_path / "there" / "data").mkdir(parents=True)
    (tmp_path / "there" / "data" / "a.npz").write_bytes((tmp_path / "here" / "data" / "a.npz").read_bytes())
    assert read(tmp_path / "there" / "data" / "a.npz", Reading()).fingerprint() == first
    assert fingerprint("elsewhere", seed=1) != first


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([[1, 0, 1], [0, 0, 1]], [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]),
        ([[0, 1, 0], [0, 0, 1]], [1, 2]),
        ([["a"], ["b"]], ["a", "b"]),
    ],
    ids=["several", "one-hot", "one column"],
)
def test_a_row_of_labels_for_each_sample(tmp_path: Path, given: list[Any], wanted: list[Any]) -> None:
    np.savez(tmp_path / "t.npz", X=np.random.default_rng(0).normal(size=(24, 3)), y=np.array(given * 12))
    labels = read(tmp_path / "t.npz", Reading()).labels
    assert labels is not None
    assert labels[:2].tolist() == wanted


def test_rows_of_other_labels_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.ones((4, 3)), y=np.arange(8).reshape(4, 2))
    with pytest.raises(InputError, match="several for each sample"):
        read(tmp_path / "t.npz", Reading())
