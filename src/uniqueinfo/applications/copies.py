"""Copies among the samples, told with the scores: training samples that are validation samples too, or there twice.

A copy of a validation sample is a leak: it moves the predictions that it is judged by, so that it looks informative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uniqueinfo.applications.redundancy import EXACT, NEAR, duplicates
from uniqueinfo.linearization.comparing import quick_pairs, quick_pairs_across
from uniqueinfo.linearization.points import Pairs
from uniqueinfo.scores.table import HeldScores, Scores
from uniqueinfo.types import Indices

_NAMED = 3
"""Leaks that are named."""
_MOST = 1000
"""Pairs looked at, the closest ones."""
_MANY = 8
"""Dimensions from which on near-copies are looked for: with fewer, samples lie close to each other by chance."""


@dataclass(frozen=True)
class Copies:
    """How many training samples are there twice.

    >>> for said in Copies(leaks=4, exact=3, first=("cat-1", "cat-7", "dog-2"), twice=0).sentences: print(said)
    4 training samples are also in the validation data, 3 of them exactly: cat-1, cat-7, dog-2, …
    no training sample is there twice
    """

    leaks: int | None
    """Those that are, or nearly are, a validation sample; None where they were not looked for."""
    exact: int = 0
    """Of these, those that the network cannot tell from it."""
    first: tuple[str, ...] = ()
    """The names of the first leaks."""
    twice: int | None = None
    """Those that are, or nearly are, another training sample; None where they were not looked for."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """For people, without a full stop."""
        if self.leaks is None and self.twice is None:
            return ("copies were not looked for, as that would take long: uniqueinfo redundancy does",)
        said = []
        if self.leaks:
            who = "1 training sample is" if self.leaks == 1 else f"{self.leaks:,} training samples are"
            how = (
                ""
                if self.exact == self.leaks
                else ", nearly"
                if not self.exact
                else f", {self.exact:,} of them exactly"
            )
            more = ", …" if self.leaks > len(self.first) else ""
            said.append(f"{who} also in the validation data{how}: {', '.join(self.first)}{more}")
        elif self.leaks == 0:
            said.append("no training sample is in the validation data too")
        if self.twice:
            said.append(f"{self.twice:,} training samples have a copy among themselves")
        elif self.twice == 0:
            said.append("no training sample is there twice")
        return tuple(said)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"leaks": self.leaks, "exact": self.exact, "first": list(self.first), "twice": self.twice}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Copies:
        """What `as_json` gave."""
        return cls(found["leaks"], found["exact"], tuple(found["first"]), found["twice"])


def look_for_copies(scores: Scores) -> Copies:
    """Compare all samples by their kernel, as `redundancy` does, where that takes some ten seconds at most."""
    origin = scores.origin
    near = NEAR if origin.run.system.rank >= _MANY else 0.0
    across, within = quick_pairs_across(origin, most=_MOST), quick_pairs(origin, most=_MOST)
    leaks, exact = (None, 0) if across is None else (_samples(across, near), len(_samples(across, 0.0)))
    twice = None
    if within is not None:
        pairs = duplicates(within, near)[0]
        twice = len(np.unique(np.concatenate([pairs.first, pairs.second])))
    if leaks is None:
        return Copies(None, twice=twice)
    return Copies(len(leaks), exact, tuple(str(scores.names[at]) for at in leaks[:_NAMED]), twice)


def told_copies(scores: Scores) -> Copies | None:
    """What a run says of its copies; None where it says nothing."""
    told = scores.settings.get("run", {}).get("copies")
    return None if told is None else Copies.from_json(told)


def known_copies(scores: Scores) -> Copies | None:
    """The same; of scores in memory it is found out."""
    held = isinstance(scores, HeldScores) and scores.source is not None
    return look_for_copies(scores) if held else told_copies(scores)


def _samples(pairs: Pairs, near: float) -> Indices:
    """Training samples of the pairs that are close enough: exact ones in their order, then the closest first."""
    close = duplicates(pairs, near)[0]
    order = np.lexsort((close.second, np.where(close.distance <= EXACT, 0.0, close.distance)))
    samples = close.second[order]
    found: Indices = samples[np.sort(np.unique(samples, return_index=True)[1])]
    return found
