from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.experiments.data import formats
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data import DATASETS, animals, glove, load
from uniqueinfo.experiments.data.cifar import read_batch


@pytest.mark.parametrize("packed", [False, True], ids=["idx", "idx.gz"])
def test_mnist_4v9_comes_from_idx_files(tmp_path: Path, packed: bool) -> None:
    held = formats.mnist(tmp_path, packed=packed)
    data = load("mnist_4v9", tmp_path)
    assert [len(data[part]) for part in ("train", "val", "test")] == [6, 6, 4]
    for part, source in (("train", "train"), ("val", "train"), ("test", "t10k")):
        pictures, digits = held[source]
        rows = [int(name.split()[1]) for name in data[part].names]
        np.testing.assert_array_equal(data[part].inputs.array, pictures[rows])
        assert data[part].labels.tolist() == [int(digits[row] == 9) for row in rows]


def test_training_and_validation_digits_are_disjoint(tmp_path: Path) -> None:
    formats.mnist(tmp_path, train=200)
    data = load("mnist_10c", tmp_path)
    assert set(data["train"].names).isdisjoint(data["val"].names)
    assert len(data["train"]) == len(data["val"]) == 100


def test_digits_over_photographs_are_mnists_test_digits_that_invert_what_is_behind(tmp_path: Path) -> None:
    pictures, digits = formats.mnist(tmp_path, test=30)["t10k"]
    formats.cifar(tmp_path)
    data, photos = load("mnist_on_photos", tmp_path), load("pets_vs_deer", tmp_path)["train"]
    behind = {name: photos.inputs.array[row] for row, name in enumerate(photos.names)}
    assert set(data["train"].names).isdisjoint(data["val"].names)
    for part in data.parts.values():
        for name, label, shown in zip(part.names, part.labels, part.inputs.array, strict=True):
            digit, _, photo = name.partition(" on ")
            row = int(digit.split()[1])
            assert label == digits[row]
            stroke = np.asarray(Image.fromarray(pictures[row]).resize((32, 32), Image.Resampling.BICUBIC), dtype=int)
            np.testing.assert_array_equal(shown, np.abs(behind[photo].astype(int) - stroke[..., None]))


def test_the_same_digits_have_the_same_fingerprint_packed_or_not(tmp_path: Path) -> None:
    held = formats.mnist(tmp_path)
    fingerprint = load("mnist_10c", tmp_path).fingerprint
    arrays: dict[str, Any] = {}
    for part, source in (("train", "train"), ("test", "t10k")):
        arrays[f"x_{part}"], arrays[f"y_{part}"] = held[source]
    (tmp_path / "packed").mkdir()
    np.savez(tmp_path / "packed" / "mnist_full.npz", **arrays)
    assert load("mnist_10c", tmp_path / "packed").fingerprint == fingerprint


def test_a_changed_pixel_changes_the_fingerprint(tmp_path: Path) -> None:
    held = formats.mnist(tmp_path)
    before = load("mnist_10c", tmp_path).fingerprint
    held["train"][0][0, 0, 0] ^= 1
    formats.idx(tmp_path, "train-images-idx3-ubyte", held["train"][0])
    assert load("mnist_10c", tmp_path).fingerprint != before


def test_emnist_letters_count_from_zero(tmp_path: Path) -> None:
    formats.emnist(tmp_path)
    data = load("emnist_letters", tmp_path)
    assert data["train"].labels.tolist() == [*range(26), *range(26)]
    assert data.classes[int(data["test"].labels[1])] == "B"


def test_svhn_is_turned_to_pictures_and_its_ten_to_zero(tmp_path: Path) -> None:
    held = formats.svhn(tmp_path)
    data = load("svhn", tmp_path)
    np.testing.assert_array_equal(data["test"].inputs.array, held["test"])
    assert data["train"].labels[:10].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]


def test_a_damaged_svhn_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "train_32x32.mat").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"train_32x32\.mat: is not SVHN's"):
        load("svhn", tmp_path)


def test_pets_vs_deer_comes_from_binary_batches(tmp_path: Path) -> None:
    held = formats.cifar(tmp_path)
    data = load("pets_vs_deer", tmp_path)
    pictures = np.concatenate([held[f"data_batch_{number}"][0] for number in range(1, 6)])
    train = data["train"]
    rows = [int(name.split()[1]) for name in train.names]
    np.testing.assert_array_equal(train.inputs.array, pictures[rows])
    assert (train.labels == (animals(train) != "deer")).all()
    assert sorted(set(animals(data["test"]))) == ["cat", "deer", "dog"]


def test_a_file_that_is_no_batch_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data_batch_1.bin").write_bytes(b"12345")
    with pytest.raises(InputError, match="5 bytes are not records of 3073"):
        read_batch(tmp_path / "data_batch_1.bin")


@pytest.mark.parametrize(
    ("name", "folders"), [("cats_dogs", ("cats", "dogs")), ("cassava", ("cbb", "cbsd", "cgm", "cmd", "healthy"))]
)
def test_photos_come_from_class_folders(tmp_path: Path, name: str, folders: tuple[str, ...]) -> None:
    formats.photos(tmp_path / name, folders)
    data = load(name, tmp_path)
    assert len(data["train"]) == len(data["val"]) == 2 * len(folders)
    for part in data.parts.values():
        for index, label in enumerate(part.labels):
            assert part.names[index].startswith(folders[label])
            shade = np.asarray(part.inputs[index]).mean()
            assert shade == pytest.approx(40 + 180 * label / (len(folders) - 1), abs=8)


def test_photos_keep_the_folders_own_parts(tmp_path: Path) -> None:
    formats.photos(tmp_path / "cats_dogs" / "train", ("cats", "dogs"), each=3)
    formats.photos(tmp_path / "cats_dogs" / "test", ("cats", "dogs"), each=2)
    data = load("cats_dogs", tmp_path)
    assert (len(data["train"]), len(data["val"])) == (6, 4)


def test_reviews_come_from_aclimdb(tmp_path: Path) -> None:
    formats.reviews(tmp_path)
    part = load("imdb", tmp_path)["train"]
    assert len(part) == 6
    assert all(("good" in text) == bool(label) for text, label in zip(part.inputs.texts, part.labels, strict=True))


def test_word_vectors_come_from_gloves_text(tmp_path: Path) -> None:
    formats.glove(tmp_path)
    formats.reviews(tmp_path)
    part = load("imdb", tmp_path)["train"]
    means = glove(tmp_path, width=3).means(part.inputs)
    np.testing.assert_allclose(means[part.labels == 1], [[0.5, 0, 0.5]] * 3)


def test_a_broken_line_of_word_vectors_is_named(tmp_path: Path) -> None:
    (tmp_path / "glove.6B.3d.txt").write_text("a 1 2 3\nb 1 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: 2 numbers, and 3 before"):
        glove(tmp_path, width=3)


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"uci_digits"}))
def test_what_is_missing_is_told_with_the_place(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: found no .* in {tmp_path}; put one there"):
        load(name, tmp_path)


def test_without_a_folder_the_option_is_told() -> None:
    with pytest.raises(InputError, match="--data, or in the variable UNIQUEINFO_DATA"):
        load("imdb", None)


def test_an_unknown_data_set_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are: mnist_4v9, "):
        load("nonsense", tmp_path)
