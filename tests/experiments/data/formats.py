"""Small data sets in their original formats."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.io import savemat

from tests.runs.readers import files

Bytes = NDArray[np.uint8]


def pixels(count: int, *shape: int, seed: int = 0) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


def idx(folder: Path, name: str, array: Bytes, packed: bool = False) -> None:
    path = files.idx(folder / name, array)
    if packed:
        (folder / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def mnist(folder: Path, train: int = 60, test: int = 20, packed: bool = False) -> dict[str, tuple[Bytes, Bytes]]:
    """MNIST's four files; the digits come round in turn."""
    held = {}
    for seed, (part, count) in enumerate({"train": train, "t10k": test}.items()):
        held[part] = pixels(count, 28, 28, seed=seed), np.arange(count, dtype=np.uint8) % 10
        idx(folder, f"{part}-images-idx3-ubyte", held[part][0], packed)
        idx(folder, f"{part}-labels-idx1-ubyte", held[part][1], packed)
    return held


def emnist(folder: Path, count: int = 52) -> None:
    for part in ("train", "test"):
        idx(folder, f"emnist-letters-{part}-images-idx3-ubyte", pixels(count, 28, 28), packed=True)
        idx(folder, f"emnist-letters-{part}-labels-idx1-ubyte", np.arange(count, dtype=np.uint8) % 26 + 1, packed=True)


def svhn(folder: Path, count: int = 40) -> dict[str, Bytes]:
    """SVHN's cropped format: X (32, 32, 3, n), y (n, 1) with 10 for the digit 0."""
    held = {}
    for seed, part in enumerate(("train", "test")):
        held[part] = pixels(count, 32, 32, 3, seed=seed)
        labels = np.arange(count, dtype=np.uint8)[:, None] % 10 + 1
        savemat(folder / f"{part}_32x32.mat", {"X": np.moveaxis(held[part], 0, 3), "y": labels})
    return held


def cifar(folder: Path, each: int = 40) -> dict[str, tuple[Bytes, Bytes]]:
    """Binary batches: records of a label, then the red, green and blue planes."""
    home = folder / "cifar-10-batches-bin"
    home.mkdir()
    held = {}
    for seed, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]):
        pictures, labels = pixels(each, 32, 32, 3, seed=seed), np.arange(each, dtype=np.uint8) % 10
        planes = pictures.transpose(0, 3, 1, 2).reshape(each, -1)
        (home / f"{name}.bin").write_bytes(np.hstack([labels[:, None], planes]).tobytes())
        held[name] = pictures, labels
    return held


def photos(folder: Path, classes: tuple[str, ...], each: int = 4, side: int = 12) -> None:
    """Class folders of pictures, each of one colour with some noise."""
    rng = np.random.default_rng(0)
    for number, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for picture in range(each):
            shade = 40 + 180 * number / max(1, len(classes) - 1)
            noisy = (shade + rng.normal(0, 10, (side, side + 2, 3))).clip(0, 255).astype(np.uint8)
            Image.fromarray(noisy).save(folder / name / f"{picture}.jpg")


def reviews(folder: Path, each: int = 3) -> None:
    """aclImdb: a text file for each review."""
    for part in ("train", "test"):
        for side, word in (("pos", "good"), ("neg", "awful")):
            home = folder / "aclImdb" / part / side
            home.mkdir(parents=True)
            for number in range(each):
                (home / f"{number}_7.txt").write_text(
                    f"{word} film {'und so ' * number}<br />ü {number}", encoding="utf-8"
                )


def glove(folder: Path, width: int = 3) -> None:
    """A few words, the first three of which point along axes of their own."""
    vectors = np.vstack([np.eye(3, width), np.full(width, 0.1)])
    lines = [
        f"{word} {' '.join(map(str, row))}" for word, row in zip(("good", "awful", "film", "the"), vectors, strict=True)
    ]
    (folder / f"glove.6B.{width}d.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
