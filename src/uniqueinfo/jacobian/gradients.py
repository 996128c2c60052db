"""Per-sample gradients, kept as the factors they are made of until someone asks for a part of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.jacobian.positions import Positions

# Temporaries are formed for as many samples at a time as fit in this: about a core's cache, for speed.
_WORKSPACE = 8 << 20
# One sample's gradient is formed at once up to so many numbers.
_LARGEST = 1 << 24

# Nanoseconds on one core; only their ratios matter.
_MULTIPLY_ADD = 0.015
_FORM = 1.5
_GATHER = 5.0
_BUCKET = 1.5
_FOURIER = 15.0


@dataclass(frozen=True)
class CountSketch:
    """Adds every coordinate j to column bucket[j], with sign[j]: (S v)_c = Σ_{j: bucket[j] = c} sign[j] v_j.

    With random buckets and signs E[SᵀS] = I, so inner products are kept on average.

    >>> sketch = CountSketch(torch.tensor([0, 1, 0]), torch.tensor([1, -1, -1]), 2)
    >>> sketch(torch.tensor([[5.0, 7.0, 2.0]]), dim=1)
    tensor([[ 3., -7.]])
    """

    bucket: Tensor
    sign: Tensor
    width: int

    def __call__(self, values: Tensor, dim: int) -> Tensor:
        """Sketch one dimension of a tensor."""
        shape = list(values.shape)
        shape[dim] = self.width
        along = [1] * values.ndim
        along[dim] = -1
        return values.new_zeros(shape).index_add_(dim, self.bucket, values * self.sign.to(values).view(along))

    def part(self, start: int, stop: int) -> CountSketch:
        """The sketch of coordinates start … stop alone."""
        return CountSketch(self.bucket[start:stop], self.sign[start:stop], self.width)

    def pairs(self, others: CountSketch) -> CountSketch:
        """The sketch of pairs (i, j): buckets add up, modulo the width, and signs multiply."""
        bucket = (self.bucket[:, None] + others.bucket) % self.width
        return CountSketch(bucket.flatten(), (self.sign[:, None] * others.sign).flatten(), self.width)


class Gradient(ABC):
    """The gradient of one output by one parameter for each of b samples, formed only where asked.

    The parameter is seen as a matrix of `height` (its first axis) × `columns` (the rest).
    """

    def __init__(self, source: Tensor, height: int, columns: int) -> None:
        self.source = source  # what it is made of, first axis b
        self.height = height
        self.columns = columns

    @abstractmethod
    def block(self, part: slice, start: int, stop: int) -> Tensor:
        """Rows start … stop of the parameter, for these samples: (len(part), stop − start, columns)."""

    @abstractmethod
    def at(self, index: Tensor) -> Tensor:
        """The coordinates `index` of the flattened parameter: (b, len(index))."""

    def tensor_sketch(self, rows: CountSketch, columns: CountSketch) -> Tensor:
        """The sketch that sends coordinate (i, j) to bucket rows[i] + columns[j]: (b, width)."""
        return self.sketch(lambda start, stop: rows.part(start, stop).pairs(columns), rows.width)

    def sketch(self, sketch_of: Callable[[int, int], CountSketch], width: int) -> Tensor:
        """Form everything, a part at a time, and sketch it by `sketch_of` rows start … stop: (b, width)."""
        result = self.source.new_zeros(len(self.source), width)
        step = max(1, _LARGEST // self.columns)
        for start in range(0, self.height, step):
            stop = min(start + step, self.height)
            sketch = sketch_of(start, stop)
            for part in self.parts((stop - start) * self.columns):
                result[part] += sketch(self.block(part, start, stop).flatten(1), dim=1)
        return result

    def parts(self, numbers: int) -> Iterator[slice]:
        """Samples in parts whose temporaries, of so many numbers per sample, fit the workspace."""
        step = max(1, _WORKSPACE // (self.source.element_size() * max(1, numbers)))
        for start in range(0, len(self.source), step):
            yield slice(start, min(start + step, len(self.source)))


class Formed(Gradient):
    """A gradient that is cheap to hold as it is: biases, norms, the generic path. `values`: (b, *shape)."""

    def __init__(self, values: Tensor) -> None:
        height, columns = values[0].shape[:1].numel(), math.prod(values.shape[2:])
        super().__init__(values.reshape(len(values), height, columns), height, columns)

    def block(self, part: slice, start: int, stop: int) -> Tensor:
        """See `Gradient`."""
        return self.source[part, start:stop]

    def at(self, index: Tensor) -> Tensor:
        """See `Gradient`."""
        return self.source.flatten(1)[:, index]


class Outer(Gradient):
    """Σ_p g_p ⊗ x_p over positions p: the weight of a linear or convolution layer.

    `g`: (b, groups, outputs per group, positions). Outputs of a group only meet inputs of that group.
    """

    def __init__(self, x: Positions, g: Tensor) -> None:
        super().__init__(g, g.shape[1] * g.shape[2], x.columns)
        self.x = x
        self.g = g

    def block(self, part: slice, start: int, stop: int) -> Tensor:
        """See `Gradient`."""
        x = self.x.all(part).mT
        if self.x.groups == 1:
            return self.g[part, 0, start:stop] @ x[:, 0]
        return (self.g[part] @ x).flatten(1, 2)[:, start:stop]

    def _forming_cost(self) -> float:
        size = self.height * self.columns
        seen = self.x.groups * self.columns * self.x.count
        return (_MULTIPLY_ADD * self.x.count + _FORM) * size + seen

    def at(self, index: Tensor) -> Tensor:
        """See `Gradient`. Many positions: form the gradient and pick; few: pick factors and multiply."""
        if self._forming_cost() < _GATHER * len(index) * self.x.count:
            parts = self.parts(self.columns * (self.height + self.x.groups * self.x.count))
            return torch.cat([self.block(part, 0, self.height).flatten(1)[:, index] for part in parts])
        output, column = index // self.columns, index % self.columns
        group = output // self.g.shape[2]
        g = self.g.flatten(1, 2)
        picked = [
            torch.linalg.vecdot(self.x.pick(part, group, column), g[part].index_select(1, output))
            for part in self.parts(2 * len(index) * self.x.count)
        ]
        return torch.cat(picked)

    def tensor_sketch(self, rows: CountSketch, columns: CountSketch) -> Tensor:
        """See `Gradient`. Sketches of g and x convolve to that of g ⊗ x: by FFT where positions are few."""
        forming = self._forming_cost() + _BUCKET * self.height * self.columns
        sketching = self.x.count * (_FOURIER * rows.width + _BUCKET * (self.height + self.columns))
        if self.x.groups > 1 or forming < sketching:
            return super().tensor_sketch(rows, columns)
        result = self.g.new_empty(len(self.g), rows.width)
        for part in self.parts(self.x.count * (4 * rows.width + self.columns)):
            x = torch.fft.rfft(columns(self.x.all(part)[:, 0], dim=1), dim=1)
            g = torch.fft.rfft(rows(self.g[part, 0], dim=1), dim=1)
            result[part] = torch.fft.irfft((x * g).sum(-1), n=rows.width, dim=1)
        return result


class Lookup(Gradient):
    """The table of an embedding: row `index[t]` receives g_t. `index`: (b, t), `g`: (b, t, columns)."""

    def __init__(self, index: Tensor, g: Tensor, height: int) -> None:
        super().__init__(g, height, g.shape[2])
        self._index = index

    def block(self, part: slice, start: int, stop: int) -> Tensor:
        """See `Gradient`."""
        index, g, height = self._index[part], self.source[part], stop - start
        # Rows outside the block go to one more row, dropped at the end.
        row = torch.where((index >= start) & (index < stop), index - start, height)
        row = row + (height + 1) * torch.arange(len(index), device=row.device)[:, None]
        table = g.new_zeros(len(index) * (height + 1), self.columns)
        table.index_add_(0, row.flatten(), g.flatten(0, 1))
        return table.view(len(index), height + 1, self.columns)[:, :height]

    def at(self, index: Tensor) -> Tensor:
        """See `Gradient`."""
        row, column = index // self.columns, index % self.columns
        picked = [
            ((self._index[part, :, None] == row) * self.source[part].index_select(2, column)).sum(1)
            for part in self.parts(2 * self._index.shape[1] * len(index))
        ]
        return torch.cat(picked)

    def tensor_sketch(self, rows: CountSketch, columns: CountSketch) -> Tensor:
        """See `Gradient`. A one-hot input only shifts the sketch of g."""
        result = self.source.new_zeros(len(self.source), rows.width)
        places = torch.arange(rows.width, device=result.device)
        for part in self.parts(4 * self._index.shape[1] * rows.width):
            index = self._index[part]
            g = columns(self.source[part], dim=2) * rows.sign[index].to(result)[..., None]
            shifted = (places + rows.bucket[index][..., None]) % rows.width
            result[part].scatter_add_(1, shifted.flatten(1), g.flatten(1))
        return result
