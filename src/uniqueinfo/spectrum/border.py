"""The border where a user's arrays come in: shapes and values are checked here, and trusted from here on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.spectrum.rows import Rows


def as_rows(name: str, source: Any, dims: tuple[str, ...], device: torch.device | str | None) -> Rows:
    """Rows from an array, a tensor or a reader of shards; every value is looked at once.

    >>> as_rows("X", np.ones((4, 3)), ("samples", "features"), None).width
    3
    """
    if isinstance(source, list | tuple):
        source = np.asarray(source)
    shape = getattr(source, "shape", None)
    if shape is None or len(shape) != len(dims):
        found = f"shape {tuple(shape)}" if shape is not None else f"a {type(source).__name__}"
        raise InputError(f"{name}: expected an array ({', '.join(dims)}), got {found}")
    if 0 in shape:
        raise InputError(f"{name}: is empty (shape {tuple(shape)}); it needs at least one of: {', '.join(dims)}")
    if isinstance(source, np.ndarray) and source.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected numbers, got {source.dtype}")
    home = source.device if isinstance(source, Tensor) else "cpu"
    rows = Rows(source, torch.device(device or home))
    rows.check_finite(name)
    return rows


def as_matrix(name: str, values: Any, like: Rows, columns: int | None = None) -> Tensor:
    """One row of numbers per sample of `like`, as float64; a plain vector is one column.

    >>> as_matrix("y", [1.0, 2.0], Rows(np.ones((2, 1, 3)))).shape
    torch.Size([2, 1])
    """
    array = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected numbers, got {array.dtype}")
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != like.samples or columns not in (None, array.shape[1]):
        wanted = f"({like.samples}, {columns or 'outputs'})"
        raise InputError(f"{name}: expected shape {wanted}, as there are {like.samples} samples; got {array.shape}")
    array = np.require(array, np.float64, "W")  # copied only where it must be: torch takes no read-only memory
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(wrong):
        raise InputError(f"{name}: sample {wrong[0]} holds NaN or infinity; mend or drop it first")
    return torch.from_numpy(array).to(like.device)
