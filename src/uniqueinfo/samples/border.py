"""What users hand to public functions, looked at before anything else is done: of which kind each argument must be."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from uniqueinfo.errors import InputError, check_seed

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Kind:
    """A kind of argument, as a user is told of it."""

    words: str
    types: tuple[type, ...] = ()

    def fits(self, value: object) -> bool:
        """Whether a value is of this kind; True and False are no numbers."""
        return isinstance(value, self.types) and (not isinstance(value, bool) or bool in self.types)

    def check(self, name: str, value: object) -> None:
        """Refuse a value of another kind."""
        if not self.fits(value):
            shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
            raise InputError(f"{name}: expected {self.words}, got {shown}")


class _Seed(Kind):
    def check(self, name: str, value: object) -> None:
        check_seed(name, value)


class _Function(Kind):
    def fits(self, value: object) -> bool:
        return callable(value)


class _Several(Kind):
    def fits(self, value: object) -> bool:
        """What has a length and an order: a list, a tuple, an array, a column."""
        counted = hasattr(value, "__len__") and hasattr(value, "__getitem__") and getattr(value, "ndim", 1) > 0
        return counted and not isinstance(value, str | bytes | Mapping)


class _OneOf(Kind):
    def fits(self, value: object) -> bool:
        return isinstance(value, str) and f'"{value}"' in self.words


def one_of(*names: str) -> Kind:
    """A few names.

    >>> one_of("mean", "sum").check("reduction", "max")
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: reduction: expected "mean" or "sum", got 'max'
    """
    *first, last = (f'"{name}"' for name in names)
    return _OneOf(f"{', '.join(first)} or {last}")


NUMBER, WHOLE = Kind("a number", (Real,)), Kind("a whole number", (Integral,))
FLAG, TEXT = Kind("True or False", (bool,)), Kind("a name", (str,))
PATH = Kind("a path", (str, Path))
FUNCTION = _Function("a function")
SEVERAL = _Several("a list or an array")
SEED = _Seed("a seed")


def check_fields(owner: object, **kinds: Kind) -> None:
    """Refuse attributes of other kinds than these: for values that are made of what users type."""
    for name, kind in kinds.items():
        kind.check(name, getattr(owner, name))


def takes(**kinds: Kind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse arguments of other kinds than these; None is fine where it is the default.

    >>> @takes(size=NUMBER, seed=SEED)
    ... def draw(size, seed=0):
    ...     return size
    >>> draw(3.5)
    3.5
    >>> draw("large")
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: size: expected a number, got 'large'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **named: P.kwargs) -> R:
            given: dict[str, Any] = signature.bind(*args, **named).arguments
            for name, kind in kinds.items():
                if name in given and not (given[name] is None and signature.parameters[name].default is None):
                    kind.check(name, given[name])
            return function(*args, **named)

        return checked

    return decorate
