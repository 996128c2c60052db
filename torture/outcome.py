"""How a case ended, and the count of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Ending(StrEnum):
    right = "right answer"
    refused = "refused, with input and remedy"
    resumed = "resumed"
    defect = "defect"


@dataclass(frozen=True)
class Outcome:
    """Of one case; `told` says what went wrong where it is a defect."""

    case: str
    ending: Ending
    told: str = ""


@dataclass(frozen=True)
class Tally:
    """Of one attack under one seed."""

    attack: str
    seed: int
    counts: dict[str, int]
    defects: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, attack: str, seed: int, outcomes: Iterable[Outcome]) -> Tally:
        found = list(outcomes)
        counts = Counter(str(outcome.ending) for outcome in found)
        wrong = [{"case": one.case, "told": one.told} for one in found if one.ending is Ending.defect]
        return cls(attack, seed, dict(counts), wrong)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Tally:
        return cls(**found)
