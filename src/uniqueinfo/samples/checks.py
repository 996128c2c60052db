"""The checks every border shares: numbers that are finite, one row for each sample, names that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError, cause


def check_finite(what: str, values: Any, names: Sequence[object] | NDArray[Any] | None = None, start: int = 0) -> None:
    """Refuse NaN and infinity, naming the first sample that holds one; samples lie along the first axis.

    `names` are what to call them; else they are counted from `start`.

    >>> check_finite("X", np.array([[1.0], [np.nan]]), names=["a", "b"])
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: X: sample b holds NaN or infinity; mend it or leave it out
    """
    if isinstance(values, Tensor):
        if not values.is_floating_point() or not values.numel() or bool(values.sum().isfinite()):
            return  # where the sum is finite all are, and a sum is quick
        fine: NDArray[np.bool_] = values.isfinite().reshape(len(values), -1).all(dim=1).cpu().numpy()
    else:
        if values.dtype.kind != "f" or not values.size:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):
                return
        fine = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if not fine.all():
        wrong = int(np.argmin(fine))
        name = start + wrong if names is None else names[wrong]
        raise InputError(f"{what}: sample {name} holds NaN or infinity; mend it or leave it out")


def as_matrix(
    name: str, values: Any, samples: int, columns: int | None = None, device: torch.device | None = None
) -> Tensor:
    """One row of numbers per sample, as float64; a plain vector is one column.

    >>> as_matrix("y", [1.0, 2.0], samples=2).shape
    torch.Size([2, 1])
    """
    array = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected numbers, got {array.dtype}")
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != samples or columns not in (None, array.shape[1]):
        wanted = f"({samples}, {columns or 'outputs'})"
        raise InputError(f"{name}: expected shape {wanted}, as there are {samples} samples; got {array.shape}")
    array = np.require(array, np.float64, "W")  # copied only where it must be: torch takes no read-only memory
    check_finite(name, array)
    return torch.from_numpy(array).to(device)


def checked_ids(ids: Any, samples: int) -> NDArray[Any] | None:
    """The user's names of the samples, one for each, all different."""
    if ids is None:
        return None
    try:
        names = np.asarray(ids)
    except ValueError as ragged:
        raise InputError(f"ids: expected one for each of the {samples} samples, got lists of lists") from ragged
    if names.shape != (samples,):
        raise InputError(f"ids: expected one for each of the {samples} samples, got shape {names.shape}")
    try:
        found, counts = np.unique(names, return_counts=True)
    except TypeError as mixed:
        raise InputError("ids: are of kinds that cannot be compared; give all as texts, or all as numbers") from mixed
    if len(found) < samples:
        raise InputError(f"ids: {found[counts.argmax()]!r} names {counts.max()} samples; ids must differ")
    return names


def counted(ids: NDArray[Any]) -> NDArray[Any] | None:
    """None for ids that only count the samples, which say nothing.

    >>> counted(np.array([0, 1, 2])), counted(np.array([5, 7]))
    (None, array([5, 7]))
    """
    return None if ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids))) else ids


def checked_columns(columns: Any, samples: int, reserved: frozenset[str]) -> pd.DataFrame | None:
    """The user's own columns, one row for each sample, under names that hide no measure."""
    if columns is None:
        return None
    try:
        table = pd.DataFrame(columns)
    except ValueError as error:
        raise InputError(
            f"columns: expected a table, or a mapping of names to a value for each of the {samples} samples "
            f"({cause(error)})"
        ) from error
    if len(table) != samples:
        raise InputError(f"columns: expected {samples} rows, one for each sample, got {len(table)}")
    clash = reserved & set(table.columns)
    if clash:
        raise InputError(f"columns: {sorted(clash)} would hide the scores' own columns; rename them")
    return table
