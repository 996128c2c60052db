"""Which numbers count as a network's outputs, where that is not what it returns as it stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError, check_seed
from uniqueinfo.samples.border import WHOLE
from uniqueinfo.samples.targets import as_targets
from uniqueinfo.types import Floats, Labels


class Outputs(ABC):
    """Numbers made of what a network returns, and what they are trained towards."""

    alike: ClassVar[bool] = False
    """Whether the network's own outputs count, all of them, and share one row that the mixtures make."""

    @abstractmethod
    def matrix(self, outputs: int) -> Tensor:
        """S, (outputs, size): the mixtures Sᵀf of so many numbers are what counts."""

    @abstractmethod
    def factor(self, outputs: int) -> float:
        """What squared changes of the mixtures must be multiplied by to speak of all."""

    @abstractmethod
    def targets(self, labels: Labels, outputs: int, ids: Sequence[object]) -> Floats | None:
        """What these are trained towards, (samples, size); None where that is not known."""


@dataclass(frozen=True)
class OutputSketch(Outputs):
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
    """Of the rotation."""

    def __post_init__(self) -> None:
        WHOLE.check("size", self.size)
        check_seed("seed", self.seed)

    def matrix(self, outputs: int) -> Tensor:
        """S for a network of so many outputs: (outputs, size), float64."""
        if not 1 <= self.size <= outputs:
            raise InputError(f"a sketch of {self.size} outputs of a network with {outputs}: give 1 to {outputs}")
        return _rotation(outputs, outputs, self.seed)[:, : self.size].contiguous()

    def factor(self, outputs: int) -> float:
        """k/size: what squared changes of the mixtures must be multiplied by."""
        return outputs / self.size

    def targets(self, labels: Labels, outputs: int, ids: Sequence[object]) -> Floats | None:
        """Sᵀy."""
        return _mixed_targets(self, labels, outputs, ids)


@dataclass(frozen=True)
class OutputAverage(Outputs):
    """Take training to move all k outputs alike: Θ ≈ Θ̄ ⊗ I, Θ̄_ab = tr(Θ_ab)/k, one row for each sample, k targets.

    Exact for a linear head, and near it for wide networks under a fresh one. What is decomposed is n × n in place of
    nk × nk. The trace is taken over `size` random mixtures of the outputs, E (1/size) Σ_l s_lᵀ Θ_ab s_l = Θ̄_ab, so
    that a pass through the network costs the same for ten classes and for a thousand; over all outputs where there are
    no more. `training="auto"` then stops at the shortest training whose leave-one-out error is within 2 % of the least.

    >>> OutputAverage(2).matrix(1000).shape, OutputAverage(20).matrix(10).shape
    (torch.Size([1000, 2]), torch.Size([10, 10]))
    """

    alike = True
    size: int = 4
    seed: int = 0
    """Draws the mixtures."""

    def __post_init__(self) -> None:
        WHOLE.check("size", self.size)
        check_seed("seed", self.seed)
        if self.size < 1:
            raise InputError(f"size: expected how many mixtures of the outputs to take, 1 or more, got {self.size}")

    def matrix(self, outputs: int) -> Tensor:
        """Orthonormal mixtures, by the length with which their squares add up to an average."""
        size = min(self.size, outputs)
        mixtures = _rotation(outputs, size, self.seed) if size < outputs else torch.eye(outputs).double()
        found: Tensor = mixtures / size**0.5
        return found

    def factor(self, outputs: int) -> float:
        """All outputs are there."""
        return 1.0

    def targets(self, labels: Labels, outputs: int, ids: Sequence[object]) -> Floats | None:
        """Of all outputs."""
        return None if labels is None else as_targets(labels, outputs, ids)


@dataclass(frozen=True)
class Contrasts(Outputs):
    """Replace k outputs by k − 1 differences of them: all that a loss sees which no shift of all outputs changes.

    The columns of S are orthonormal and orthogonal to (1, …, 1), so SSᵀg = g for every g whose entries add up to
    nothing, as those of the gradient of softmax cross-entropy do.

    >>> S = Contrasts().matrix(3)
    >>> g = torch.tensor([0.2, -0.7, 0.5], dtype=S.dtype)
    >>> torch.allclose(S @ (S.T @ g), g)
    True
    """

    def matrix(self, outputs: int) -> Tensor:
        """S: each output against the mean of those before it, (outputs, outputs − 1)."""
        if outputs < 2:
            raise InputError(f"a network of {outputs} outputs has no differences between them")
        found = torch.zeros(outputs, outputs - 1, dtype=torch.float64)
        for column in range(outputs - 1):
            found[: column + 1, column], found[column + 1, column] = -1.0, column + 1.0
        unit: Tensor = found / found.norm(dim=0)
        return unit

    def factor(self, outputs: int) -> float:
        """Shifts of all outputs are left out, nothing else is scaled."""
        return 1.0

    def targets(self, labels: Labels, outputs: int, ids: Sequence[object]) -> Floats | None:
        """Sᵀy."""
        return _mixed_targets(self, labels, outputs, ids)


def _rotation(outputs: int, columns: int, seed: int) -> Tensor:
    """Columns of a random rotation, (outputs, columns)."""
    q, r = np.linalg.qr(np.random.default_rng([seed, outputs]).standard_normal((outputs, columns)))
    # Without the signs the decomposition's own convention, not chance, would choose them.
    return torch.from_numpy(q * np.sign(np.diag(r)))


def _mixed_targets(mixing: Outputs, labels: Labels, outputs: int, ids: Sequence[object]) -> Floats | None:
    if labels is None:
        return None
    found: Floats = as_targets(labels, outputs, ids) @ mixing.matrix(outputs).numpy()
    return found
