"""What scores of a network were computed of, by marks: whoever goes on from scores tells whether it is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from uniqueinfo.errors import InputError

_WORDS = {"network": "another network", "train": "other training samples", "val": "other validation samples"}


@dataclass(frozen=True)
class Looked:
    """Marks of the network as it was handed over, and of the samples.

    >>> Looked("a", "b", "c").check({"looked_at": {"network": "a", "train": "x", "val": "c"}})
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: scores: they are of other training samples than are handed over beside them; hand \
over what was scored, or leave scores out
    """

    network: str | None = None
    train: str | None = None
    val: str | None = None
    """None where it is not known, or there is none."""

    def check(self, settings: Mapping[str, Any]) -> None:
        """Refuse settings of scores that are of something else; older ones do not say."""
        before = settings.get("looked_at") or {}
        now = {each.name: getattr(self, each.name) for each in fields(self)}
        others = [_WORDS[name] for name, mark in now.items() if mark and before.get(name) and before[name] != mark]
        if others:
            raise InputError(
                f"scores: they are of {' and '.join(others)} than are handed over beside them; hand over what was "
                "scored, or leave scores out"
            )
