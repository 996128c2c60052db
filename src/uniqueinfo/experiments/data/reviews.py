"""Film reviews (IMDB) and word vectors (GloVe)."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data.dataset import Dataset, Indices, Part, split_in_two
from uniqueinfo.experiments.data.files import arrays, find, missing

_LETTERS = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[^\sa-z0-9]")
_TAG = re.compile(r"<[^>]+>")
_SIDES = {"neg": 0, "pos": 1}


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts by index."""

    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int) -> str:
        return self.texts[index]

    def take(self, indices: Indices) -> Texts:
        """Those at these indices, in their order."""
        return Texts(tuple(self.texts[index] for index in indices))

    def digest(self) -> str:
        """SHA-256 of the texts."""
        return hashlib.sha256("\0".join(self.texts).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector for each word."""

    words: NDArray[np.str_]
    vectors: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def means(self, texts: Texts) -> NDArray[np.float32]:
        """The mean vector of each text's known words, zero where it has none: (n, width).

        >>> vectors = WordVectors(np.array(["good", "film"]), np.array([[1, 0], [0, 1]], dtype=np.float32))
        >>> vectors.means(Texts(("A good good film", "?")))
        array([[0.6666667 , 0.33333334],
               [0.        , 0.        ]], dtype=float32)
        """
        where = {word: row for row, word in enumerate(self.words.tolist())}
        means = np.zeros((len(texts), self.width), dtype=np.float32)
        for number, text in enumerate(texts.texts):
            rows = [where[word] for word in words(text) if word in where]
            if rows:
                means[number] = self.vectors[rows].mean(axis=0)
        return means


def words(text: str) -> list[str]:
    """Words and punctuation marks in lower case, tags left out.

    >>> words("It's <br /> GOOD, 10/10!")
    ["it's", 'good', ',', '10', '/', '10', '!']
    """
    return _LETTERS.findall(_TAG.sub(" ", text).lower())


def imdb(folder: Path | None) -> Dataset[Texts]:
    """Reviews against (class 0) and for (class 1) a film: 2000 + 2000."""
    if folder is not None and (packed := find(folder, "imdb_4000.jsonl")) is not None:
        train, val = split_in_two(_from_lines(packed), 2000, 2000, seed=0)
    elif folder is not None and (home := find(folder, "aclImdb")) is not None:
        train, val = (_from_folder(home / part).draw(2000) for part in ("train", "test"))
    else:
        wanted = ["imdb_4000.jsonl", "aclImdb/train/pos/*.txt"]
        raise missing("imdb", folder, wanted, "Stanford's Large Movie Review Dataset, unpacked")
    return Dataset("imdb", {"train": train, "val": val}, ("negative", "positive"))


def glove(folder: Path | None, width: int = 100) -> WordVectors:
    """GloVe vectors of this width: those packed for the reviews (100), or a file of GloVe 6B."""
    packed = "glove100_imdb_vocab.npz"
    if folder is not None and width == 100 and (path := find(folder, packed)) is not None:
        names, vectors = arrays(path, "words", "vectors")
        return WordVectors(names.astype(np.str_), vectors.astype(np.float32))
    name = f"glove.6B.{width}d.txt"
    if folder is None or (text := find(folder, name)) is None:
        raise missing("glove", folder, [packed, name] if width == 100 else [name], "GloVe 6B, unpacked")
    return read_glove(text)


def read_glove(path: Path) -> WordVectors:
    """GloVe's text format: a word and its numbers on each line."""
    names: list[str] = []
    rows: list[NDArray[np.float32]] = []
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            word, *values = line.rstrip("\n").split(" ")
            if rows and len(values) != len(rows[0]):
                raise InputError(f"{path}, line {number}: {len(values)} numbers, and {len(rows[0])} before; mend it")
            names.append(word)
            rows.append(np.array(values, dtype=np.float32))
    return WordVectors(np.array(names), np.stack(rows))


def _from_lines(path: Path) -> Part[Texts]:
    with path.open(encoding="utf-8") as lines:
        reviews = [json.loads(line) for line in lines]
    return Part(
        Texts(tuple(review["t"] for review in reviews)),
        np.array([review["s"] for review in reviews], dtype=np.int64),
        np.array([f"review {review['i']}" for review in reviews]),
    )


def _from_folder(folder: Path) -> Part[Texts]:
    found = [(path, side) for name, side in _SIDES.items() for path in sorted((folder / name).glob("*.txt"))]
    if not found:
        raise InputError(f"{folder}: holds no reviews in pos/*.txt and neg/*.txt; unpack aclImdb again")
    paths, sides = zip(*found, strict=True)
    return Part(
        Texts(tuple(path.read_text(encoding="utf-8") for path in paths)),
        np.array(sides, dtype=np.int64),
        np.array([path.relative_to(folder).as_posix() for path in paths]),
    )
