"""What a format says of itself, and the words all formats share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from uniqueinfo.errors import InputError, known_names
from uniqueinfo.review.decisions import Decision, Opinions
from uniqueinfo.store.declared import declared

DROP, UNSURE = "[drop]", "[unsure]"
"""Answers beside the classes, where a tool knows only labels."""


@dataclass(frozen=True)
class Record:
    """A suspect, or a sample that was decided on."""

    id: str
    given: str
    suggested: str
    chance: float | None
    """That the label is wrong, where it is known; else the probability of the suggested one."""
    fields: dict[str, Any]
    """What it looks like: `image`, the path of a picture; `text`; or the cells of a row."""
    opinions: Opinions


@dataclass(frozen=True)
class Answered:
    """What somebody said of a sample elsewhere."""

    id: str
    choice: str
    """A class, DROP or UNSURE."""
    by: str | None = None
    """None where the tool does not say who."""


@dataclass(frozen=True)
class Format:
    """One tool's format."""

    name: str
    words: str
    write: Callable[[Sequence[Record], Sequence[str]], str]
    """Records and the classes → the file."""
    read: Callable[[str], list[Answered]]
    """The file → what was answered; a ValueError, KeyError or TypeError where it is no such file."""


def choice_of(decision: Decision) -> str:
    """A decision as one of several answers.

    >>> choice_of(Decision("a", "keep", given="cat", by="Ann")), choice_of(Decision("a", "drop", given="cat", by="Ann"))
    ('cat', '[drop]')
    """
    special = {"drop": DROP, "unsure": UNSURE, "keep": decision.given}
    return decision.label if decision.label is not None else special[decision.decision]


def decided(answered: Answered, given: str, by: str) -> Decision:
    """The answer as a decision.

    >>> decided(Answered("a", "dog"), "cat", "Ann").outcome, decided(Answered("a", "cat"), "cat", "Ann").outcome
    (('relabel', 'dog'), ('keep', None))
    """
    who = answered.by or by
    if answered.choice in (DROP, UNSURE):
        return Decision(answered.id, "drop" if answered.choice == DROP else "unsure", given=given, by=who)
    if answered.choice == given:
        return Decision(answered.id, "keep", given=given, by=who)
    return Decision(answered.id, "relabel", given=given, by=who, label=answered.choice)


def formats() -> dict[str, Format]:
    """All there are, by name."""
    return {found.name: found for found in declared("uniqueinfo.review.formats", "FORMATS", Format)}


def format_named(name: str) -> Format:
    """One of them."""
    found = formats()
    if name not in found:
        raise InputError(f"--format {name}: there is no such format; {known_names(name, found)}")
    return found[name]
