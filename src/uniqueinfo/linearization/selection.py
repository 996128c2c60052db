"""Which samples leave next: the strategies of a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import torch

from uniqueinfo.linearization.subsets import Subset, Subsets
from uniqueinfo.types import Floats, Indices

Strategy = Literal["iterative", "bottom", "top", "random", "greedy"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
RESCORED = ("iterative", "greedy")

_FINER = 5  # greedy batches for one of the other strategies
_POOL = 4  # candidates looked at together for each sample that leaves greedily


@dataclass(frozen=True, eq=False)
class Selection:
    """Samples leave in batches, those that cost least first.

    - bottom: the least information, as scored once with all samples there;
    - iterative: the same, the rest being scored anew after every batch;
    - greedy: the least joint cost with everything that has left before, in batches a fifth as large. With R gone, that
      of a sample i is F-SI(R ∪ {i}): what the function has lost since the beginning, not since the last batch. Inside
      a batch the changes of the outputs are added up, so samples whose effects cancel leave together;
    - top: the most information; random: any. Both are there to be compared with.

    Samples leave within strata, of which each loses the same share: classes, or all samples as one.
    """

    whole: Subset
    information: Floats
    """Of every sample, with all of them there."""
    strata: Indices

    def rounds(self, strategy: Strategy, counts: Sequence[int], seed: int) -> Iterator[tuple[Indices, Subset]]:
        """For falling counts, the kept samples and the training on them: each a part of the one before."""
        subsets, noise = Subsets(self.whole), np.random.default_rng(seed).random(len(self.information))
        kept, part = np.arange(len(self.information)), self.whole
        for count in counts:
            for stop in _stops(len(kept), count, _FINER if strategy == "greedy" else 1):
                kept = kept[self._stay(strategy, kept, part, stop, noise)]
                part = subsets.of(kept)
            yield kept, part

    def _stay(self, strategy: Strategy, kept: Indices, part: Subset, count: int, noise: Floats) -> Indices:
        """Positions within `kept` of the samples that stay."""
        strata = self.strata[kept]
        leaving = np.bincount(strata, minlength=len(self._sizes)) - share_out(self._sizes, count)
        if strategy == "greedy":
            gone = self._jointly_cheapest(part, strata, leaving)
        elif strategy == "iterative" and len(kept) < len(noise):
            gone = _cheapest(part.information(), strata, leaving)
        else:
            fixed = {"top": -self.information, "random": noise}
            gone = _cheapest(fixed.get(strategy, self.information)[kept], strata, leaving)
        return np.setdiff1d(np.arange(len(kept)), gone)

    def _jointly_cheapest(self, part: Subset, strata: Indices, leaving: Indices) -> Indices:
        """Samples whose leaving together brings the function least away from what all samples taught it.

        The value of a sample, with the outputs of the training on all as targets, is F-SI(R ∪ {i}) − F-SI(R).
        """
        assert part.probe is not None
        probe = part.probe.toward(self._outputs_of_all)
        pool = _cheapest(part.run.leave_out().drift(probe), strata, _POOL * leaving)
        moves = np.empty((len(pool), probe.initial.numel()))
        for numbers, moved in part.run.leave_out([[i] for i in pool]).output_changes(probe):
            moves[numbers] = moved.reshape(len(numbers), -1)
        drift = self._outputs_of_all.flatten().cpu().numpy() - part.run.outputs(probe).ravel()
        return pool[_pick(moves @ drift, moves @ moves.T, strata[pool], leaving)]

    @cached_property
    def _outputs_of_all(self) -> torch.Tensor:
        probe = self.whole.probe
        assert probe is not None
        return probe.outputs(self.whole.run.coordinates)

    @cached_property
    def _sizes(self) -> Indices:
        return np.bincount(self.strata)


def share_out(sizes: Indices, count: int) -> Indices:
    """How many of `count` samples each stratum gets: in proportion to its size, and never more the fewer there are.

    >>> share_out(np.array([60, 30, 10]), 10), share_out(np.array([60, 30, 10]), 3)
    (array([6, 3, 1]), array([2, 1, 0]))
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
    return np.bincount(owner[np.argsort(place, kind="stable")[:count]], minlength=len(sizes))


def _cheapest(cost: Floats, strata: Indices, most: Indices) -> Indices:
    """Positions of the `most[s]` lowest costs of each stratum s (of all there are, where these are fewer).

    >>> _cheapest(np.array([3.0, 1.0, 2.0, 0.0]), np.array([0, 0, 1, 1]), np.array([1, 2]))
    array([1, 3, 2])
    """
    order = np.argsort(cost, kind="stable")
    return np.concatenate([order[strata[order] == stratum][:many] for stratum, many in enumerate(most)])


def _pick(along: Floats, across: Floats, strata: Indices, leaving: Indices) -> Indices:
    """One by one, which changes Δ to add to a drift d so that it stays short: least ‖d + ΣΔ‖².

    `along` are the products Δd, `across` ΔΔᵀ; of each stratum as many leave as `leaving` says.

    >>> d, moves = np.array([0.0, 0.0]), np.array([[1.0, 0.0], [0.0, 1.1], [-1.2, 0.0]])
    >>> _pick(moves @ d, moves @ moves.T, np.zeros(3, int), np.array([2]))  # the third takes back most of the first
    array([0, 2])
    """
    room, free, picked = leaving.copy(), np.ones(len(strata), dtype=bool), np.empty(leaving.sum(), dtype=np.intp)
    for number in range(len(picked)):
        cost = np.where(free & (room[strata] > 0), 2 * along + across.diagonal(), np.inf)
        best = picked[number] = cost.argmin()
        free[best] = False
        room[strata[best]] -= 1
        along = along + across[best]
    return picked


def _stops(now: int, count: int, parts: int) -> list[int]:
    """From `now` down to `count` in this many about equal parts."""
    stops = np.round(np.linspace(now, count, parts + 1)[1:]).astype(int)
    return [int(stop) for stop in np.unique(stops)[::-1] if stop < now]
