"""The images the benchmarks read, from the folder UNIQUEINFO_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

FOLDER = Path(os.environ.get("UNIQUEINFO_DATA", Path(__file__).parents[2] / "shared" / "data"))


def mnist_4v9(transposed: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Training and validation images (1000, 1, 28, 28), normalized as in the paper; training labels 0 or 1."""
    train, val, digits = _mnist("mnist_4v9.npz")
    labels = (digits == 9).double()
    return (train.mT, val.mT, labels) if transposed else (train, val, labels)


def mnist_digits() -> tuple[Tensor, Tensor, Tensor]:
    """Training and validation images (1500, 1, 28, 28) of all ten digits; the digits of the training images."""
    return _mnist("mnist_10c.npz")


def _mnist(name: str) -> tuple[Tensor, Tensor, Tensor]:
    file = FOLDER / name
    if not file.exists():
        raise SystemExit(f"{file} is missing: name the folder of the data with UNIQUEINFO_DATA")
    with np.load(file) as arrays:
        images = [torch.from_numpy(arrays[part]).float()[:, None] for part in ("x_train", "x_val")]
        digits = torch.from_numpy(arrays["y_train"]).long()
    train, val = ((image / 255 - 0.456) / 0.224 for image in images)
    return train, val, digits
