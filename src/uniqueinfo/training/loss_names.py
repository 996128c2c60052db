"""The names of losses, apart from their derivatives: a command line that only prints its help needs no torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from uniqueinfo.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

LossFunction: TypeAlias = "Callable[[Tensor, Tensor], Tensor]"
"""Outputs (n, k) and targets (n, k) → the loss of each sample, (n,)."""

SQUARED = "mse"
LOSSES = (SQUARED, "cross-entropy", "logistic", "huber", "poisson")
LIKELIHOOD = "likelihood"
"""Of the numbers of `sequence_likelihood` alone, which name it by themselves."""


def check_loss(loss: str | LossFunction) -> None:
    """Refuse what is neither the name of a loss nor a function.

    >>> check_loss("hinge")
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: loss: expected "mse", "cross-entropy", "logistic", "huber", "poisson" or a function \
of (outputs, targets), got 'hinge'
    """
    if not callable(loss) and not (isinstance(loss, str) and loss in (*LOSSES, LIKELIHOOD)):
        names = ", ".join(f'"{name}"' for name in LOSSES)
        raise InputError(f"loss: expected {names} or a function of (outputs, targets), got {loss!r}")


def loss_name(loss: str | LossFunction) -> str:
    """What to call it.

    >>> loss_name(check_loss)
    'check_loss'
    """
    return loss if isinstance(loss, str) else getattr(loss, "__qualname__", type(loss).__qualname__)
