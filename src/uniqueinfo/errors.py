"""Errors a user can act on: what was wrong, with which input, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from textwrap import shorten

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


def cause(error: BaseException) -> str:
    """What another library says went wrong, in one line, without its advice to open files in ways that run code.

    >>> cause(ValueError("File is not a zip file"))
    'File is not a zip file'
    >>> cause(ValueError("If you trust it, load it using `allow_pickle=True`"))
    'it holds Python objects, and opening those could run code'
    """
    told = str(error).strip()
    if any(word in told for word in _UNSAFE):
        return "it holds Python objects, and opening those could run code"
    return shorten(told.splitlines()[0], _LONGEST, placeholder=" …") if told else type(error).__name__


_UNSAFE = ("pickle", "trust_remote_code", "weights_only", "unsafe", "Object arrays")
"""Words of advice that is not passed on."""
_LONGEST = 300  # letters of what another library says
_LARGEST_SEED = 2**63 - 1


def check_seed(name: str, seed: object) -> None:
    """Refuse what random generators do not take.

    >>> check_seed("seed", -1)
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: seed: expected a whole number from 0 to 9223372036854775807, got -1
    """
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if not whole or not 0 <= int(seed) <= _LARGEST_SEED:  # type: ignore[call-overload]
        raise InputError(f"{name}: expected a whole number from 0 to {_LARGEST_SEED}, got {seed!r}")
