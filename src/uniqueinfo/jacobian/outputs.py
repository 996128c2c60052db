"""Fewer outputs for networks with many: a random rotation of them, cut off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError, check_seed
from uniqueinfo.samples.border import WHOLE


@dataclass(frozen=True)
class OutputSketch:
    """Replace k outputs f by `size` random mixtures Sᵀf, S being the first columns of a random rotation.

    SᵀS = I, so training moves the mixtures as it moves the outputs; exactly so where the kernel treats outputs
    alike (Θ = Θ₀ ⊗ I, as in wide networks). E[SSᵀ] = (size/k) I, so squared changes of the outputs, and F-SI with
    them, are those of the mixtures times `factor`, on average. One sample's F-SI is then off by a relative
    √(2 (1/size − 1/k)) (standard deviation): 14 % with 100 of very many, nothing with all k. Targets must be
    mixed by the same S.

    >>> S = OutputSketch(3, seed=1).matrix(3)
    >>> torch.allclose(S @ S.T, torch.eye(3, dtype=S.dtype))
    True
    """

    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        WHOLE.check("size", self.size)
        check_seed("seed", self.seed)

    def matrix(self, outputs: int) -> Tensor:
        """S for a network of so many outputs: (outputs, size), float64."""
        if not 1 <= self.size <= outputs:
            raise InputError(f"a sketch of {self.size} outputs of a network with {outputs}: give 1 to {outputs}")
        gaussian = np.random.default_rng([self.seed, outputs]).standard_normal((outputs, outputs))
        q, r = np.linalg.qr(gaussian)
        # Without the signs the decomposition's own convention, not chance, would choose them.
        rotation = q * np.sign(np.diag(r))
        return torch.from_numpy(rotation[:, : self.size].copy())

    def factor(self, outputs: int) -> float:
        """k/size: what squared changes of the mixtures must be multiplied by."""
        return outputs / self.size
