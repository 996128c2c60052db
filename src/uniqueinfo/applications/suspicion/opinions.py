"""From features and labels to what each kind of model says of samples that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uniqueinfo.applications.suspicion.evidence import DECAYS, WIDTHS, Decomposed, Neighbours, Ranked, gaussian, linear
from uniqueinfo.applications.suspicion.stack import Calibrated, calibrated
from uniqueinfo.types import Floats, Indices

NEIGHBOURS = 10
"""That say whether a sample is unlike all others, and as many votes as the shares of classes have among others'."""
_FEWEST_VOTES, _MOST_VOTES = 100, 4_000_000
AGREEING = 3
"""Decays whose probabilities are averaged: those under which the given labels are likeliest."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Features as models see them, decomposed once for all labellings."""

    heads: Mapping[str, Decomposed]
    ranked: Ranked

    @classmethod
    def of(cls, X: Floats) -> Seen:
        """A linear head, Gaussian kernels of three widths, and neighbours: all others where samples are few."""
        heads = {"linear": linear(X)} | {f"gaussian {width:g}": gaussian(X, width) for width in WIDTHS}
        return cls(heads, Ranked.of(Neighbours.of(X, max(_FEWEST_VOTES, _MOST_VOTES // len(X)))))

    def opinions(self, given: Indices, classes: int) -> dict[str, Floats]:
        """log p(y | x) by each kind of model, (n, classes); each was trained without the sample."""
        targets = np.eye(classes)[given]
        found = {name: _agreed(head, targets, given) for name, head in self.heads.items()}
        shares = targets.mean(axis=0)
        votes = (NEIGHBOURS * self.ranked.votes(targets) + shares) / (NEIGHBOURS + 1)
        return found | {"neighbours": calibrated(np.log(np.maximum(votes, np.finfo(float).tiny)), given).logs}


def scaled(X: Floats, given: Indices, classes: int) -> Floats:
    """Features as they are, or each with deviation 1: whichever makes the given labels likelier to a linear head."""
    deviation = X.std(axis=0)
    alike = X / np.where(deviation > 0, deviation, 1)
    targets = np.eye(classes)[given]
    best = [min(one.deviance for one in _by_decay(linear(each), targets, given)) for each in (X, alike)]
    return X if best[0] <= best[1] else alike


def _agreed(head: Decomposed, targets: Floats, given: Indices) -> Floats:
    """The mean over the few best decays."""
    found = sorted(_by_decay(head, targets, given), key=lambda one: one.deviance)
    mean: Floats = np.mean([one.logs for one in found[:AGREEING]], axis=0)
    return mean


def _by_decay(head: Decomposed, targets: Floats, given: Indices) -> list[Calibrated]:
    start = targets.mean(axis=0)
    return [calibrated(head.left_out(targets - start, decay) + start, given) for decay in DECAYS]
