"""What a weight meets at each position: the tokens of a linear layer, the patches of a convolution."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch.nn.functional as F
from torch import Tensor, nn

Convolution = nn.Conv1d | nn.Conv2d | nn.Conv3d


class Positions(ABC):
    """The input of a layer at each of `count` places, in `groups` separate groups of `columns` numbers."""

    samples: int
    groups: int
    columns: int
    count: int

    @abstractmethod
    def all(self, part: slice) -> Tensor:
        """(b, groups, columns, count) of these samples."""

    @abstractmethod
    def pick(self, part: slice, group: Tensor, column: Tensor) -> Tensor:
        """(b, len(column), count) of these samples: chosen columns, each of its group."""


class Tokens(Positions):
    """Inputs of a linear layer: (b, …, columns)."""

    groups = 1

    def __init__(self, x: Tensor) -> None:
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        self.samples, self.count, self.columns = x.shape
        self._x = x.mT

    def all(self, part: slice) -> Tensor:
        """See `Positions`."""
        return self._x[part, None]

    def pick(self, part: slice, group: Tensor, column: Tensor) -> Tensor:
        """See `Positions`."""
        return self._x[part].index_select(1, column)


class Patches(Positions):
    """Inputs of a convolution: every place of the kernel is a strided view of the padded input."""

    def __init__(self, layer: Convolution, x: Tensor) -> None:
        x = _pad(layer, x)
        batch, channels, *spatial = x.stride()
        counts = [
            (size - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, dilation, stride in zip(
                x.shape[2:], layer.kernel_size, layer.dilation, layer.stride, strict=True
            )
        ]
        inner = [step * dilation for step, dilation in zip(spatial, layer.dilation, strict=True)]
        outer = [step * stride for step, stride in zip(spatial, layer.stride, strict=True)]
        self._kernel = layer.kernel_size
        self._windows = x.as_strided(
            (*x.shape[:2], *self._kernel, *counts), (batch, channels, *inner, *outer), x.storage_offset()
        )
        self.samples = x.shape[0]
        self.groups = layer.groups
        self._channels = x.shape[1] // layer.groups
        self.columns = self._channels * math.prod(self._kernel)
        self.count = math.prod(counts)

    def all(self, part: slice) -> Tensor:
        """See `Positions`."""
        return self._windows[part].reshape(-1, self.groups, self.columns, self.count)

    def pick(self, part: slice, group: Tensor, column: Tensor) -> Tensor:
        """See `Positions`."""
        places = []
        for size in reversed(self._kernel):
            places.append(column % size)
            column = column // size
        chosen: list[slice | Tensor] = [part, group * self._channels + column, *reversed(places)]
        return self._windows[tuple(chosen)].flatten(2)


def _pad(layer: Convolution, x: Tensor) -> Tensor:
    """The input as the kernel sees it, for any padding (numbers, "same", "valid") and padding mode."""
    mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
    return F.pad(x, layer._reversed_padding_repeated_twice, mode=mode)
