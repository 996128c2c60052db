"""What a question is: its name, what it says on the command line, and the function that answers it.

Every module of this package that answers a question declares it as ``QUESTION = Question(…)``. The registry reads that
declaration without importing the module, so it is made of the words of this file and of plain values alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uniqueinfo.applications.answer import Answer

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Option:
    """An option of the command line, and the argument of the function that it fills.

    >>> Option("noise_rate", float, help="Share of labels to suspect.", most=1).flag
    '--noise-rate'
    """

    name: str
    """The argument it fills."""
    kind: type | tuple[str, ...]
    """What it takes: text, numbers, nothing (bool), or one of these words."""
    default: Value = None
    """As that of the function."""
    help: str = ""
    required: bool = False
    least: float | None = None
    most: float | None = None
    metavar: str | None = None
    """What the help calls its value, in place of its kind."""
    called: str | None = None
    """Its name on the command line, where that is another."""

    @property
    def flag(self) -> str:
        """As it is typed."""
        return f"--{(self.called or self.name).replace('_', '-')}"


@dataclass(frozen=True)
class Export:
    """A table that ``--export FILE.csv`` writes."""

    method: str
    """The method of the answer that gives the table."""
    help: str
    options: tuple[Option, ...] = ()
    """Arguments of this method."""


@dataclass(frozen=True)
class Question:
    """A question that scores answer: a function of `uniqueinfo`, and a command.

    The module, the function and the command all have its name.
    """

    name: str
    help: str
    """What the command line says it does."""
    example: str
    """Arguments to try it with."""
    options: tuple[Option, ...] = ()
    export: Export | None = None
    new_data: str | None = None
    """What to say of a file of new data, if the question looks at some: the function's argument `inputs`."""
    unlabelled: bool = False
    """Whether labels that the new data may have are left aside."""
    network: bool = True
    """Whether it goes back to the network, which may have to be built again by the user's own code."""
    retrains: bool = False
    """Whether the function takes the network and its data, which the folder of a run leads to, in place of scores."""

    @property
    def module(self) -> str:
        """Where its function is."""
        return f"uniqueinfo.applications.{self.name}"

    @property
    def function(self) -> Callable[..., Answer]:
        """What answers it; imported when asked for, as torch takes seconds."""
        found: Callable[..., Answer] = getattr(import_module(self.module), self.name)
        return found
