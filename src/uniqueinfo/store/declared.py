"""What the modules of a package declare: a new reader, source or rule is one new file, and no list names it."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


def declared(package: str, name: str, kind: type[T]) -> list[T]:
    """All values that the package's modules hold in a tuple of this name, the modules in alphabetical order.

    >>> from uniqueinfo.runs.readers.reader import Reader
    >>> "an IDX file" in [reader.words for reader in declared("uniqueinfo.runs.readers", "READERS", Reader)]
    True
    """
    found: list[T] = []
    for path in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        values = vars(import_module(path.name)).get(name, ())
        if not isinstance(values, tuple) or not all(isinstance(value, kind) for value in values):
            raise TypeError(f"{path.name}: {name} is {values!r}; make it a tuple of {kind.__name__}")
        found += values
    return found
