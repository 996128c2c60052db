"""From features and labels to what each kind of model says of samples that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uniqueinfo.applications.suspicion.evidence import WIDTHS, Decomposed, Neighbours, Ranked, gaussian, linear
from uniqueinfo.applications.suspicion.members import Head, Member, Votes, by_decay
from uniqueinfo.progress import progress
from uniqueinfo.types import Floats, Indices

_FEWEST_VOTES, _MOST_VOTES = 100, 4_000_000


@dataclass(frozen=True, eq=False)
class Seen:
    """Features as models see them, decomposed once for all labellings."""

    heads: Mapping[str, Decomposed]
    ranked: Ranked

    @classmethod
    def of(cls, X: Floats) -> Seen:
        """A linear head, Gaussian kernels of three widths, and neighbours: all others where samples are few."""
        with progress("Models that judge labels", 2 + len(WIDTHS), unit="models") as advance:
            heads = {"linear": linear(X)}
            advance(1)
            for width in WIDTHS:
                heads[f"gaussian {width:g}"] = gaussian(X, width)
                advance(1)
            ranked = Ranked.of(Neighbours.of(X, max(_FEWEST_VOTES, _MOST_VOTES // len(X))))
            advance(1)
        return cls(heads, ranked)

    def members(self, given: Indices, classes: int) -> dict[str, Member]:
        """Each kind of model, fitted to the given labels."""
        targets = np.eye(classes)[given]
        heads = {name: Head.of(head, targets, given) for name, head in self.heads.items()}
        return heads | {"neighbours": Votes.of(self.ranked, targets, given)}

    def opinions(self, given: Indices, classes: int) -> dict[str, Floats]:
        """log p(y | x) by each kind of model, (n, classes); each was trained without the sample."""
        return {name: member.logs for name, member in self.members(given, classes).items()}


def scaled(X: Floats, given: Indices, classes: int) -> Floats:
    """Features as they are, or each with deviation 1: whichever makes the given labels likelier to a linear head."""
    deviation = X.std(axis=0)
    alike = X / np.where(deviation > 0, deviation, 1)
    targets = np.eye(classes)[given]
    best = [min(one.calibrated.deviance for one in by_decay(linear(each), targets, given)) for each in (X, alike)]
    return X if best[0] <= best[1] else alike
