"""Libraries of networks, which may be missing, and networks of theirs, which may not be there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from uniqueinfo.errors import InputError, cause


def library(name: str) -> Any:
    """The library's module of this name; refused, with how to install it, where it is not there."""
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as missing:  # torchvision of another torch raises the second
        raise InputError(
            f"--model {package}:…: {package} cannot be imported ({cause(missing)}): pip install 'uniqueinfo[{package}]'"
        ) from missing


def loaded(name: str, load: Callable[[], Any]) -> Any:
    """What `load` gives; its errors are told as a mistake in the name."""
    try:
        return load()
    except Exception as error:  # libraries raise what they like
        raise InputError(f"--model …:{name}: cannot be loaded ({cause(error)}); check the name") from error
