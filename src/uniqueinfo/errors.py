"""Errors a user can act on: what was wrong, with which input, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

from uniqueinfo.terminal import printable


class UniqueInfoError(Exception):
    """Base of every error this package raises on purpose; what it quotes of files does no harm to a terminal."""

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(UniqueInfoError, ValueError):
    """The data or settings handed over cannot be used; raised before the long work starts."""


class FitError(UniqueInfoError, ArithmeticError):
    """A training filter could not be approximated to the tolerance asked for."""


def known_names(name: object, known: Iterable[object], most: int = 12) -> str:
    """What a name that is not known may be meant for, and what there is: the end of a sentence.

    >>> known_names("vendr", ["age", "vendor"])
    "did you mean 'vendor'? There are age, vendor"
    >>> known_names("price", ["age", "vendor"])
    'there are age, vendor'
    """
    names = [str(one) for one in known]
    listed = ", ".join(names[:most]) + (", …" if len(names) > most else "")
    folded = {one.casefold(): one for one in reversed(names)}
    near = get_close_matches(str(name).casefold(), folded, 1)
    return f"did you mean {folded[near[0]]!r}? There are {listed}" if near else f"there are {listed}"
