"""A panel of models that goes on judging while labels are mended: fitted once, its word follows every decision.

The network's own outputs follow by themselves (`removal.mending`); the others are `members` of the panel. What they are
worth, and how often labels are wrong, stays what was found at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from uniqueinfo.applications.suspicion.members import Member
from uniqueinfo.applications.suspicion.opinions import Seen
from uniqueinfo.applications.suspicion.stack import Fitted, Reading, calibrated, judge, rejudged
from uniqueinfo.types import Floats, Indices

_MOST_SAMPLES, _MOST_SIDE, _MOST_NUMBERS = 20_000, 2_500, 2e8


@dataclass(frozen=True, eq=False)
class Panel:
    """Made by `of`."""

    own: Reading
    """How the network's outputs are read."""
    members: Sequence[Member]
    fit: Fitted

    @staticmethod
    def affordable(samples: int, width: int) -> bool:
        """Whether so many points of this width are decomposed within a minute, and fit in two gigabytes."""
        return samples <= _MOST_SAMPLES and min(samples, width) <= _MOST_SIDE and samples * width <= _MOST_NUMBERS

    @classmethod
    def of(cls, points: Floats, outputs: Floats, given: Indices) -> Panel:
        """`outputs` (n, classes): of the network trained without each sample."""
        own = calibrated(outputs, given)
        members = list(Seen.of(points).members(given, outputs.shape[1]).values())
        verdict = judge([own.logs, *(member.logs for member in members)], given, outputs.shape[1])
        return cls(own.reading, members, verdict.fit)

    def taught(self, sample: int, number: int | None) -> Panel:
        """With a sample of another class; None: without the sample."""
        target = None if number is None else np.eye(len(self.own.shifts))[number]
        return replace(self, members=[member.taught(sample, target) for member in self.members])

    def wrong(self, outputs: Floats, given: Indices, among: Indices) -> tuple[Floats, int]:
        """How probably the labels of some samples are wrong, and how many of these are contradicted.

        `outputs` and `given` are of these samples, by now.
        """
        opinions = [self.own.logs(outputs), *(member.logs[among] for member in self.members)]
        return rejudged(self.fit, opinions, given)
