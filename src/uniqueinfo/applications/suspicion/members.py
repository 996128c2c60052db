"""Models that were fitted to the given labels, and what each says of samples it was trained without.

A label that is mended changes what is said of others by one column of the hat matrix,

    f₋ⱼ(xⱼ) ← f₋ⱼ(xⱼ) + H_ji Δ / (1 − H_jj),   j ≠ i,

and nothing is fitted anew: neither which decays count, nor how outputs are read as probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from uniqueinfo.applications.suspicion.evidence import DECAYS, Decomposed, Ranked
from uniqueinfo.applications.suspicion.stack import Calibrated, Reading, calibrated
from uniqueinfo.types import Floats, Indices

NEIGHBOURS = 10
"""As many votes as the shares of classes have among others'; and so many say whether a sample is unlike all others."""
AGREEING = 3
"""Decays whose probabilities are averaged: those under which the given labels are likeliest."""


class Member(Protocol):
    """One kind of model."""

    @property
    def logs(self) -> Floats:
        """log p(y | x) of every sample by the others' labels, (n, classes)."""
        ...

    def taught(self, sample: int, target: Floats | None) -> Self:
        """With another target (classes,) for a sample; None: with what the others say of it, so that it adds nothing.

        Ridge regression on all is then what it would be without the sample.
        """
        ...


@dataclass(frozen=True, eq=False)
class Head:
    """Ridge regression on a kernel, by its best decays."""

    head: Decomposed
    decays: Sequence[float]
    readings: Sequence[Reading]
    targets: Floats
    """By decay, (decays, n, classes): they differ where a sample has left."""
    outputs: Floats
    """By decay, of every sample by the others', (decays, n, classes)."""
    own: Floats
    """By decay, H_jj of every sample, (decays, n)."""

    @classmethod
    def of(cls, head: Decomposed, targets: Floats, given: Indices) -> Head:
        """Fitted."""
        found = sorted(by_decay(head, targets, given), key=lambda one: one.calibrated.deviance)[:AGREEING]
        outputs, own = np.stack([one.outputs for one in found]), np.stack([head.own(one.decay) for one in found])
        decays, readings = [one.decay for one in found], [one.calibrated.reading for one in found]
        return cls(head, decays, readings, np.broadcast_to(targets, outputs.shape), outputs, own)

    @property
    def logs(self) -> Floats:
        """The mean over decays."""
        each = [reading.logs(outputs) for reading, outputs in zip(self.readings, self.outputs, strict=True)]
        mean: Floats = np.mean(each, axis=0)
        return mean

    def taught(self, sample: int, target: Floats | None) -> Self:
        """See `Member`."""
        wanted = self.outputs[:, sample] if target is None else np.broadcast_to(target, self.outputs[:, sample].shape)
        felt = self.head.column(sample, self.decays) / (1 - self.own)
        felt[:, sample] = 0
        targets = self.targets.copy()
        targets[:, sample] = wanted
        moved = (wanted - self.targets[:, sample])[:, None]
        return replace(self, targets=targets, outputs=self.outputs + felt[:, :, None] * moved)


@dataclass(frozen=True, eq=False)
class Votes:
    """Neighbours, who vote by their places in each other's order; some votes go by how common classes are."""

    ranked: Ranked
    targets: Floats
    votes: Floats
    """Means over the others, (n, classes)."""
    shares: Floats
    """Of the classes, (classes,)."""
    reading: Reading

    @classmethod
    def of(cls, ranked: Ranked, targets: Floats, given: Indices) -> Votes:
        """Fitted."""
        votes, shares = ranked.votes(targets), targets.mean(axis=0)
        return cls(ranked, targets, votes, shares, calibrated(_mixed(votes, shares), given).reading)

    @property
    def logs(self) -> Floats:
        """See `Member`."""
        return self.reading.logs(_mixed(self.votes, self.shares))

    def taught(self, sample: int, target: Floats | None) -> Self:
        """See `Member`."""
        targets, wanted = self.targets.copy(), self.votes[sample] if target is None else target
        targets[sample] = wanted
        return replace(
            self, targets=targets, votes=self.votes + self.ranked.felt(sample, wanted - self.targets[sample])
        )


@dataclass(frozen=True, eq=False)
class Tried:
    """What a head says with one decay."""

    decay: float
    outputs: Floats
    calibrated: Calibrated


def by_decay(head: Decomposed, targets: Floats, given: Indices) -> list[Tried]:
    """What the head says with each decay."""
    start = targets.mean(axis=0)
    outputs = [head.left_out(targets - start, decay) + start for decay in DECAYS]
    return [Tried(decay, each, calibrated(each, given)) for decay, each in zip(DECAYS, outputs, strict=True)]


def _mixed(votes: Floats, shares: Floats) -> Floats:
    mixed = (NEIGHBOURS * votes + shares) / (NEIGHBOURS + 1)
    return np.log(np.maximum(mixed, np.finfo(float).tiny))
