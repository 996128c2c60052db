"""The checks every border shares: numbers that are finite, one row for each sample, names that differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError, cause
from uniqueinfo.samples.border import SEVERAL

LARGEST = 1e150
"""Numbers beyond this have no square, or none that can be added up."""


def check_finite(what: str, values: Any, names: Sequence[object] | NDArray[Any] | None = None, start: int = 0) -> None:
    """Refuse NaN, infinity and what has no square, naming the first sample that holds such; samples are the first axis.

    `names` are what to call them; else they are counted from `start`.

    >>> check_finite("X", np.array([[1.0], [np.nan]]), names=["a", "b"])
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: X: sample b holds NaN or infinity; mend it or leave it out
    """
    if _harmless(values):
        return
    flat = values.reshape(len(values), -1)
    fine = flat.isfinite().all(dim=1).cpu().numpy() if isinstance(flat, Tensor) else np.isfinite(flat).all(axis=1)
    if not fine.all():
        raise InputError(f"{what}: sample {_called(fine, names, start)} holds NaN or infinity; mend it or leave it out")
    small = (flat.abs() <= LARGEST).all(dim=1).cpu().numpy() if isinstance(flat, Tensor) else _all_small(flat)
    if not small.all():
        raise InputError(
            f"{what}: sample {_called(small, names, start)} holds a number beyond ±{LARGEST:g}, which has no square; "
            "mend it, or rescale the column"
        )


def _harmless(values: Any) -> bool:
    """Where the sum of the squares is finite all numbers are, and none is too large; and such a sum is quick."""
    if isinstance(values, Tensor):
        if not values.is_floating_point() or not values.numel():
            return True
        flat = values.detach().reshape(-1)
        return bool((torch.dot(flat, flat) if flat.dtype is torch.float64 else flat.sum()).isfinite())
    if values.dtype.kind != "f" or not values.size:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype == np.float64:
            flat = values.reshape(-1)
            return bool(np.isfinite(np.vdot(flat, flat)))
        return bool(np.isfinite(values.sum()))


def _all_small(flat: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((np.abs(flat) <= LARGEST).all(axis=1))


def _called(fine: NDArray[np.bool_], names: Sequence[object] | NDArray[Any] | None, start: int) -> object:
    """The first that is not."""
    wrong = int(np.argmin(fine))
    return start + wrong if names is None else names[wrong]


def missing(values: Any) -> NDArray[np.bool_]:
    """Which samples hold None, NaN, pd.NA, NaT or a masked value where a name or a label was to be; none of a tensor.

    Looked at before numpy makes one array of them, in which NaN among names is one more name.

    >>> missing(["cat", float("nan"), None]).tolist(), missing(np.ma.masked_equal([1, 2], 2)).tolist()
    ([False, True, True], [False, True])
    """
    if isinstance(values, np.ma.MaskedArray):
        found = np.asarray(np.ma.getmaskarray(values) | _not_there(values.data))
    elif isinstance(values, pd.Series | pd.DataFrame | pd.Index | pd.api.extensions.ExtensionArray):
        found = np.asarray(values.isna())
    elif isinstance(values, list | tuple) and not any(isinstance(value, Tensor) for value in values[:1]):
        found = _not_there(np.asarray(values, dtype=object) if _is_flat(values) else np.asarray(values))
    else:
        found = _not_there(values)
    return np.asarray(found.any(axis=tuple(range(1, found.ndim)))) if found.ndim else found.reshape(1)


def _not_there(values: Any) -> NDArray[np.bool_]:
    if isinstance(values, np.ndarray) and values.dtype.kind in "OfmM":
        return np.asarray(pd.isna(values))
    return np.zeros(1, dtype=bool)


def _is_flat(values: Sequence[Any]) -> bool:
    return not any(isinstance(value, list | tuple | np.ndarray) for value in values[:1])


def check_labelled(name: str, labels: Any, start: int = 0) -> None:
    """Refuse labels of which some are missing: they would become a class of their own. Counted from `start`.

    >>> check_labelled("y", ["cat", None, "dog"])
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: y: sample 1 has no label; fill it in, or leave the sample out
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "f" and not isinstance(labels, np.ma.MaskedArray):
        return  # numbers to predict, which are looked at when they are read
    try:
        empty = np.flatnonzero(missing(labels))
    except ValueError as ragged:
        raise InputError(f"{name}: expected one label for each sample, got lists of unequal length") from ragged
    if len(empty):
        also = f" ({len(empty):,} samples have none)" if len(empty) > 1 else ""
        raise InputError(f"{name}: sample {start + empty[0]} has no label{also}; fill it in, or leave the sample out")


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


def check_columns(where: object, held: Iterable[object], wanted: Iterable[object], known: str) -> None:
    """Refuse a table whose columns are not those wanted, in whatever order: `known` is where these were found.

    >>> check_columns("b.parquet", ["z", "x"], ["x", "y"], "a.parquet")
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: b.parquet: column 'y' is missing and column 'z' is new, against a.parquet; columns \
are known by their names, so give both the same ones
    """
    names, own = [str(name) for name in wanted], [str(name) for name in held]
    twice = sorted({name for name in own if own.count(name) > 1}) if len(set(own)) < len(own) else []
    if twice:
        raise InputError(f"{where}: {listed(twice)} there more than once; give every column a name of its own")
    missing, new = ([name for name in some if name not in set(others)] for some, others in ((names, own), (own, names)))
    told = [f"{listed(some)} {what}" for some, what in ((missing, "missing"), (new, "new")) if some]
    if told:
        raise InputError(
            f"{where}: {' and '.join(told)}, against {known}; columns are known by their names, so give both the same "
            "ones"
        )


def listed(names: Sequence[str], most: int = 8) -> str:
    """Columns by name, with the verb that goes with them.

    >>> listed(["size"]), listed(["size", "kind"])
    ("column 'size' is", "columns 'size', 'kind' are")
    """
    told = ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
    return f"column {told} is" if len(names) == 1 else f"columns {told} are"


def checked_ids(ids: Any, samples: int) -> NDArray[Any] | None:
    """The user's names of the samples, one for each, all different."""
    if ids is None:
        return None
    if not SEVERAL.fits(ids):
        raise InputError(f"ids: expected one for each of the {samples} samples, got {ids!r}")
    try:
        empty = np.flatnonzero(missing(ids))
        names = np.asarray(ids)
    except ValueError as ragged:
        raise InputError(f"ids: expected one for each of the {samples} samples, got lists of lists") from ragged
    if len(empty):
        also = f" ({len(empty):,} have none)" if len(empty) > 1 else ""
        raise InputError(f"ids: sample {empty[0]} has no id{also}; name every sample, or leave ids out to count them")
    if names.dtype.kind == "O" and len({isinstance(name, str) for name in names}) > 1:
        raise InputError("ids: some are texts and some are not; give all as texts, or all as numbers")
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
