"""Small files of every kind to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

KINDS = ("round", "square")


def table(samples: int = 24, seed: int = 0) -> pd.DataFrame:
    """Two kinds of things that differ in size and colour."""
    rng = np.random.default_rng(seed)
    kind = np.arange(samples) % 2
    return pd.DataFrame(
        {
            "size": (rng.normal(size=samples) + 2 * kind).round(4),
            "colour": np.where(rng.random(samples) < 0.3 + 0.4 * kind, "red", "blue"),
            "kind": np.array(KINDS)[kind],
        }
    )


def csv(path: Path, frame: pd.DataFrame | None = None) -> Path:
    (table() if frame is None else frame).to_csv(path, index=False)
    return path


def npz(path: Path, samples: int = 24, features: int = 3, seed: int = 0, **more: NDArray[Any]) -> Path:
    rng = np.random.default_rng(seed)
    y = np.arange(samples) % 2
    arrays: dict[str, Any] = {"X": rng.normal(size=(samples, features)) + y[:, None], "y": y, **more}
    np.savez(path, **arrays)
    return path


def pictures(folder: Path, each: int = 4, side: int = 12) -> Path:
    """Class folders `dark` and `light` of JPEGs."""
    rng = np.random.default_rng(0)
    for name, level in (("dark", 60), ("light", 190)):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            pixels = (level + rng.normal(0, 20, (side, side, 3))).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.jpg")
    return folder


def idx(path: Path, array: NDArray[np.uint8]) -> Path:
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(head + np.ascontiguousarray(array).tobytes())
    return path
