"""Quadratic forms on coordinates of the eigenbasis."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Metric:
    """A quadratic form δᵀMδ on coordinates: M itself, its diagonal, or a factor L with M = LᵀL with fewer rows."""

    matrix: Tensor
    factor: bool

    def of(self, vectors: Tensor) -> Tensor:
        """vᵀMv of every vector (…, rank)."""
        image = self._image(vectors)
        form: Tensor = torch.linalg.vecdot(image, image if self.factor else vectors)
        return form

    def apply(self, vectors: Tensor) -> Tensor:
        """Mv of every vector."""
        image = self._image(vectors)
        return image @ self.matrix if self.factor else image

    def _image(self, vectors: Tensor) -> Tensor:
        return vectors * self.matrix if self.matrix.ndim == 1 else vectors @ self.matrix.T
