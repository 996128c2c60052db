"""Errors a user can act on: what was wrong, with which input, and what to do."""


class UniqueInfoError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(UniqueInfoError, ValueError):
    """The data or settings handed over cannot be used; raised before the long work starts."""


class FitError(UniqueInfoError, ArithmeticError):
    """A training filter could not be approximated to the tolerance asked for."""
