"""Projections: from the gradient by all parameters to fewer columns, keeping the kernel J Jᵀ on average.

Each is a frozen value with a seed. What it keeps of a parameter depends on the seed and on the parameter's
name and shape only, so training and validation rows, of whatever batch size, live in the same columns.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError, check_seed
from uniqueinfo.jacobian.gradients import CountSketch, Gradient

Shapes = Mapping[str, tuple[int, ...]]
_Form = Callable[[Gradient], Tensor]


@dataclass(frozen=True)
class Columns:
    """Where one parameter's part of a row goes, and how it is made from the gradient: (b, stop − start)."""

    start: int
    stop: int
    form: _Form


@runtime_checkable
class Projection(Protocol):
    """What all projections do: lay out the columns for parameters of these shapes."""

    def layout(self, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
        """The columns of each parameter; those that share columns add up."""
        ...


@dataclass(frozen=True)
class RandomCoordinates:
    """Keep `per_layer` coordinates of each parameter, chosen at random, each times √(size/per_layer).

    The estimate of the kernel is (size/per_layer) Σ_{chosen j} J_aj J_bj; smaller parameters are kept whole.
    This is the projection of the paper, and the cheapest.
    """

    per_layer: int = 2000
    seed: int = 0
    """Of the draw: the same seed gives the same columns."""

    def __post_init__(self) -> None:
        _check("per_layer", self.per_layer, self.seed)

    def layout(self, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
        """See `Projection`."""

        def form(name: str, shape: tuple[int, ...]) -> _Form:
            size = math.prod(shape)
            chosen = np.sort(_generator(self.seed, name, shape).choice(size, self.per_layer, replace=False))
            index = torch.from_numpy(chosen).to(device)
            scale = math.sqrt(size / self.per_layer)
            return lambda gradient: gradient.at(index) * scale

        return _side_by_side(shapes, self.per_layer, form)


@dataclass(frozen=True)
class Factorized:
    """Sketch each larger parameter to `per_layer` columns through its factors, input and output gradient.

    A weight's gradient is Σ_p g_p ⊗ x_p. With count sketches S, T of g and x, the circular convolution
    S g ∗ T x is a count sketch of g ⊗ x: coordinate (i, j) goes to column S(i) + T(j) modulo `per_layer`,
    with the product of the signs. Every coordinate counts, and the weight's gradient
    itself is formed only where that is cheaper.
    """

    per_layer: int = 2000
    seed: int = 0
    """Of the draw: the same seed gives the same columns."""

    def __post_init__(self) -> None:
        _check("per_layer", self.per_layer, self.seed)

    def layout(self, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
        """See `Projection`."""

        def form(name: str, shape: tuple[int, ...]) -> _Form:
            generator = _generator(self.seed, name, shape)
            rows = _count_sketch(generator, shape[0], self.per_layer, device)
            columns = _count_sketch(generator, math.prod(shape[1:]), self.per_layer, device)
            return lambda gradient: gradient.tensor_sketch(rows, columns)

        return _side_by_side(shapes, self.per_layer, form)


@dataclass(frozen=True)
class VerySparse:
    """Project all parameters together to `size` columns by a matrix with one entry, ±1, in each row.

    Columns and signs are random, so E[R Rᵀ] = I. Every coordinate counts and one number fixes the width;
    the price is that all per-sample gradients are formed, a few at a time.
    """

    size: int
    seed: int = 0
    """Of the draw: the same seed gives the same columns."""

    def __post_init__(self) -> None:
        _check("size", self.size, self.seed)

    def layout(self, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
        """See `Projection`."""

        def form(name: str, shape: tuple[int, ...]) -> _Form:
            sketch = _count_sketch(_generator(self.seed, name, shape), math.prod(shape), self.size, device)

            columns = math.prod(shape[1:])
            return lambda gradient: gradient.sketch(
                lambda start, stop: sketch.part(start * columns, stop * columns), self.size
            )

        return {name: Columns(0, self.size, form(name, shape)) for name, shape in shapes.items()}


def layout(projection: Projection | None, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
    """The columns of each parameter under a projection; without one, the Jacobian's own."""
    return _side_by_side(shapes) if projection is None else projection.layout(shapes, device)


def _side_by_side(
    shapes: Shapes,
    largest: float = math.inf,
    form: Callable[[str, tuple[int, ...]], _Form] | None = None,
) -> dict[str, Columns]:
    """Columns parameter after parameter; larger ones than `largest` take that many, made by `form`."""
    columns = {}
    start = 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        whole = form is None or size <= largest
        stop = start + (size if whole else int(largest))
        columns[name] = Columns(start, stop, _whole if form is None or whole else form(name, shape))
        start = stop
    return columns


def _whole(gradient: Gradient) -> Tensor:
    return gradient.block(slice(None), 0, gradient.height).flatten(1)


def _generator(seed: int, name: str, shape: tuple[int, ...]) -> np.random.Generator:
    digest = hashlib.sha256(f"{name} {shape}".encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "little")])


def _count_sketch(generator: np.random.Generator, size: int, width: int, device: torch.device) -> CountSketch:
    bucket = torch.from_numpy(generator.integers(width, size=size)).to(device)
    sign = torch.from_numpy(generator.integers(2, size=size, dtype=np.int8) * 2 - 1).to(device)
    return CountSketch(bucket, sign, width)


def _check(name: str, size: int, seed: int) -> None:
    if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
        raise InputError(f"{name} is {size!r}: give a whole number of at least 1")
    check_seed("seed", seed)
