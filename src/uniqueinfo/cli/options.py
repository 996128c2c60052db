"""Options that commands share, and how options that belong together travel together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Wide = Annotated[bool, typer.Option("--wide", help="Print every column of tables, however wide they become.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
REQUIRED = inspect.Parameter.empty
"""In place of a default."""


def one_of(name: str, words: Iterable[str]) -> type[StrEnum]:
    """The type of an option that takes one of these words."""
    make: Any = StrEnum  # type checkers take literal names only
    found: type[StrEnum] = make(name, {word: word for word in words})
    return found


def signed(
    command: Callable[..., None], parameters: Iterable[inspect.Parameter], *, name: str, doc: str | None
) -> Callable[..., None]:
    """The command under this name with these parameters, which typer makes options of, and this help text."""
    found = list(parameters)
    command.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in found}
    command.__name__, command.__doc__ = name, doc
    return command


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes dataclasses of options: typer sees their fields, the command gets the dataclasses.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int
    ...     height: int = 2
    >>> @grouped
    ... def draw(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> inspect.signature(draw)
    <Signature (*, name: str, width: int, height: int = 2)>
    >>> draw(name="box", width=3, height=4)
    box Size(width=3, height=4)
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}

    def call(**given: Any) -> None:
        filled = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **filled)

    parameters: list[inspect.Parameter] = []
    for name, own in inspect.signature(command).parameters.items():
        group = groups.get(name)
        parameters += [parameter(name, hints[name], own.default)] if group is None else _options(group)
    return signed(call, parameters, name=command.__name__, doc=command.__doc__)


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        parameter(field.name, hints[field.name], REQUIRED if field.default is MISSING else field.default)
        for field in fields(group)
    ]


def parameter(name: str, annotation: Any, default: Any = REQUIRED) -> inspect.Parameter:
    """One parameter of a command; by keyword alone, so that a required one may come after one with a default."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
