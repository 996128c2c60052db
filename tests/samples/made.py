"""Ten samples, and the ways they may come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from uniqueinfo.samples.samples import Samples

Inputs = NDArray[np.float32]
Labels = NDArray[np.int64]


def inputs() -> Inputs:
    return np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)


def labels() -> Labels:
    return np.arange(10) % 3


def pairs() -> TensorDataset:
    return TensorDataset(torch.from_numpy(inputs()), torch.from_numpy(labels()))


class Listed(Dataset[Any]):
    """Items as they are."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]


class Flipping(Dataset[tuple[Tensor, int]]):
    """Random augmentation: sample 3 on, flipped with even odds."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        x = torch.from_numpy(inputs()[index])
        return (x.flip(0) if index >= 3 and torch.rand(()) < 0.5 else x), int(labels()[index])


class Stream(IterableDataset[Tensor]):
    def __iter__(self) -> Iterator[Tensor]:
        yield from torch.zeros(4, 2)


def everything(samples: Samples) -> np.ndarray[Any, Any]:
    whole = samples.inputs(range(len(samples)))
    assert isinstance(whole, Tensor)
    return whole.numpy()
