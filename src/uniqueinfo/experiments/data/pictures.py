"""Pictures wherever they lie (in an array, packed as JPEGs, in files), and how they are prepared for a network."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset as TorchDataset

from uniqueinfo.experiments.data.dataset import Indices, Part
from uniqueinfo.runs.readers.images import open_picture, square

Bytes = NDArray[np.uint8]


class Pictures(Protocol):
    """Pictures by index, decoded when asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Image.Image: ...

    def take(self, indices: Indices, /) -> Self:
        """Those at these indices, in their order."""

    def digest(self) -> str:
        """SHA-256 of the contents."""


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pictures as an array, gray (n, height, width) or coloured (n, height, width, 3)."""

    array: Bytes

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: int) -> Image.Image:
        return Image.fromarray(self.array[index])

    def take(self, indices: Indices) -> Pixels:
        """Those at these indices, in their order."""
        return Pixels(self.array[indices])

    def digest(self) -> str:
        """SHA-256 of shape and contents."""
        return _digest([repr(self.array.shape).encode(), np.ascontiguousarray(self.array).data])


@dataclass(frozen=True, eq=False)
class Jpegs:
    """JPEG files one after the other: file j lies between offset[j] and offset[j + 1]."""

    stream: Bytes
    offset: Indices
    chosen: Indices

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, index: int) -> Image.Image:
        return Image.open(io.BytesIO(self._file(index))).convert("RGB")

    def take(self, indices: Indices) -> Jpegs:
        """Those at these indices, in their order."""
        return Jpegs(self.stream, self.offset, self.chosen[indices])

    def digest(self) -> str:
        """SHA-256 of the files."""
        return _digest(self._file(index) for index in range(len(self)))

    def _file(self, index: int) -> bytes:
        at = self.chosen[index]
        return self.stream[self.offset[at] : self.offset[at + 1]].tobytes()


@dataclass(frozen=True, eq=False)
class PictureFiles:
    """Pictures in files of their own."""

    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Image.Image:
        return open_picture(self.paths[index])

    def take(self, indices: Indices) -> PictureFiles:
        """Those at these indices, in their order."""
        return PictureFiles(tuple(self.paths[index] for index in indices))

    def digest(self) -> str:
        """SHA-256 of the files."""
        return _digest(path.read_bytes() for path in self.paths)


@dataclass(frozen=True)
class Preparation:
    """From a picture to a network's input: (pixel/255 − mean)/deviation of each channel.

    >>> gray = Image.fromarray(np.full((2, 2), 255, dtype=np.uint8))
    >>> Preparation((0.5,), (0.25,))(gray).tolist()
    [[[2.0, 2.0], [2.0, 2.0]]]
    """

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    size: int | None = None
    """Pixels a side; None leaves pictures as large as they are."""
    transposed: bool = False
    """Rows and columns exchanged, as EMNIST stores its letters."""

    def __call__(self, picture: Image.Image) -> Tensor:
        """(channels, height, width)."""
        image = picture.convert("L" if len(self.mean) == 1 else "RGB")
        if self.size is not None and image.size != (self.size, self.size):
            image = square(image, self.size)
        pixels = torch.from_numpy(np.array(image)).float() / 255
        pixels = pixels[..., None] if pixels.ndim == 2 else pixels
        prepared = ((pixels - torch.tensor(self.mean)) / torch.tensor(self.deviation)).permute(2, 0, 1)
        return prepared.mT.contiguous() if self.transposed else prepared.contiguous()

    def all(self, pictures: Pictures) -> Tensor:
        """Every picture, (n, channels, height, width)."""
        return torch.stack([self(pictures[index]) for index in range(len(pictures))])


MNIST = Preparation((0.456,), (0.224,))
"""The paper's, for 28 × 28 digits."""


def imagenet(size: int | None = None) -> Preparation:
    """What networks trained on ImageNet expect."""
    return Preparation((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), size)


class Prepared(TorchDataset[tuple[Tensor, int]]):
    """Pictures and labels for `score` and `linearize`, decoded as they are asked for."""

    def __init__(self, part: Part[Any], preparation: Preparation) -> None:
        self._part, self._preparation = part, preparation

    def __len__(self) -> int:
        return len(self._part)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self._preparation(self._part.inputs[index]), int(self._part.labels[index])


def joined(parts: Iterable[Part[Any]], side: int) -> Part[Pixels]:
    """Samples of several sources one after the other, all in colour and of one size."""
    found = list(parts)
    arrays = [
        np.stack([np.asarray(square(part.inputs[index].convert("RGB"), side)) for index in range(len(part))])
        for part in found
    ]
    labels, names = (np.concatenate([getattr(part, what) for part in found]) for what in ("labels", "names"))
    return Part(Pixels(np.concatenate(arrays)), labels, names)


def _digest(contents: Iterable[bytes | memoryview]) -> str:
    sha = hashlib.sha256()
    for content in contents:
        sha.update(content)
    return sha.hexdigest()
