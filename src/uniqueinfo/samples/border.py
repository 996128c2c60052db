"""What users hand to public functions, looked at before anything else is done: of which kind each argument must be."""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
    types: tuple[type, ...]

    def check(self, name: str, value: object) -> None:
        """Refuse a value of another kind; True and False are no numbers."""
        if not isinstance(value, self.types) or (isinstance(value, bool) and bool not in self.types):
            shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
            raise InputError(f"{name}: expected {self.words}, got {shown}")


class _Seed(Kind):
    def check(self, name: str, value: object) -> None:
        check_seed(name, value)


NUMBER, WHOLE = Kind("a number", (Real,)), Kind("a whole number", (Integral,))
PATH = Kind("a path", (str, Path))
SEED = _Seed("a seed", ())


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
