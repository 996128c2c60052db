"""Quadratic forms on coordinates of the eigenbasis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Metric:
    """A quadratic form δᵀMδ on coordinates: M itself, its diagonal, or a factor L with M = LᵀL with fewer rows."""

    matrix: Tensor
    factor: bool

    def of(self, vectors: Tensor) -> Tensor:
        """vᵀMv of every vector (…, rank)."""
        if not self.factor and self.matrix.ndim == 2:
            return self._by_halves(vectors)
        image = self._image(vectors)
        form: Tensor = torch.linalg.vecdot(image, image if self.factor else vectors)
        return form

    def apply(self, vectors: Tensor) -> Tensor:
        """Mv of every vector."""
        image = self._image(vectors)
        return image @ self.matrix if self.factor else image

    def _by_halves(self, vectors: Tensor) -> Tensor:
        """By three quarters of the work: aᵀAa + aᵀCb + bᵀBb with v = (a, b), and C both blocks that lie across."""
        half = vectors.shape[-1] // 2
        upper, lower = vectors[..., :half], vectors[..., half:]
        first: Tensor = torch.linalg.vecdot(upper @ self._top, vectors)
        second: Tensor = torch.linalg.vecdot(lower @ self.matrix[half:, half:], lower)
        return first + second

    @cached_property
    def _top(self) -> Tensor:
        """The upper half of the rows: A, and beside it both that lie across."""
        half = len(self.matrix) // 2
        across = self.matrix[:half, half:] + self.matrix[half:, :half].T
        return torch.cat([self.matrix[:half, :half], across], dim=1)

    def _image(self, vectors: Tensor) -> Tensor:
        return vectors * self.matrix if self.matrix.ndim == 1 else vectors @ self.matrix.T
