"""Devices by name: refused where this machine has none such, before anything is computed."""

from __future__ import annotations

import torch

from uniqueinfo.errors import InputError, cause


def as_device(device: torch.device | str | None) -> torch.device | None:
    """The device of this name; None where none is named.

    >>> as_device("cpu")
    device(type='cpu')
    >>> as_device("gpu9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: device: 'gpu9' cannot be used here (...); say cpu, or nothing
    """
    if device is None:
        return None
    try:
        found = torch.device(device)
        torch.ones(1, dtype=torch.float64, device=found).item()  # scores are computed in float64
    except (RuntimeError, AssertionError, NotImplementedError, TypeError, ValueError) as error:
        name, told = str(device), cause(error).partition(". ")[0]
        raise InputError(f"device: {name!r} cannot be used here ({told}); say cpu, or nothing") from error
    return found
