"""Small problems for streams, cut into many partitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

MEASURES = ("weight", "functional", "value", "loo_outputs", "outputs", "targets")
FEATURES, CLASSES = 12, 4


def features(n: int = 300, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, FEATURES)), rng.integers(0, CLASSES, n)


def network(hidden: int = 8) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, 3))


def images(n: int = 120, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 5, generator=generator), torch.arange(n) % 3


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def largest_difference(found: Any, wanted: Any) -> float:
    """Over all measures, relative to the largest number of each."""
    pairs = [(getattr(found, name), getattr(wanted, name)) for name in MEASURES]
    return max(float(np.abs(ours - theirs).max() / np.abs(theirs).max()) for ours, theirs in pairs)
