"""Which samples leave next: the strategies of a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import torch
from scipy.stats import spearmanr

from uniqueinfo.linearization.subsets import Subset, Subsets
from uniqueinfo.removal.leading import Leading
from uniqueinfo.spectrum.dual import Dual, products
from uniqueinfo.types import Floats, Indices

Strategy = Literal["iterative", "bottom", "top", "random", "greedy"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
RESCORED = ("iterative", "greedy")

_FINER = 5  # greedy batches for one of the other strategies
_POOL = 4  # candidates looked at together for each sample that leaves greedily
_FEWEST = 500  # rows of the kernel, below which exact scores take no time
_DIRECTIONS, _ROWS_EACH = 100, 20  # leading directions: at least, and rows for each
_ALIKE = 0.99  # rank correlation with exact scores of all samples


@dataclass(frozen=True, eq=False)
class Selection:
    """Samples leave in batches, those that cost least first.

    - bottom: the least information, as scored once with all samples there;
    - iterative: the same, the rest being scored anew after every batch, of many samples along the leading directions
      of their kernel (`Leading`), where these rank all samples as their scores do;
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
    exact: bool = False
    """Whether the rest is scored exactly, however many samples there are."""

    def rounds(self, strategy: Strategy, counts: Sequence[int], seed: int) -> Iterator[Indices]:
        """For falling counts, the kept samples: each a part of those before."""
        noise = np.random.default_rng(seed).random(len(self.information))
        look, stay = self.leading if strategy == "iterative" else None, None
        kept = np.arange(len(self.information))
        for count in counts:
            for stop in _stops(len(kept), count, _FINER if strategy == "greedy" else 1):
                if look is not None and stay is not None:
                    look = look.rest(stay)
                stay = self._stay(strategy, kept, stop, noise, look)
                kept = kept[stay]
            yield kept

    def part(self, kept: Indices) -> Subset:
        """The training on some samples alone; the last one asked for is held."""
        if len(kept) == len(self.information):
            return self.whole
        name = kept.tobytes()
        if name not in self._last:
            self._last.clear()
            self._last[name] = self._subsets.of(kept)
        return self._last[name]

    @cached_property
    def leading(self) -> Leading | None:
        """All samples along the leading directions of their kernel; None where exact scores are wanted, or as quick.

        None also where these rank all samples otherwise than their scores do (Spearman's correlation below .99).
        """
        run, probe = self.whole.run, self.whole.probe
        rows, filter = run.system.rank, run.training.filter(run.samples)
        closed = run.training.in_closed_form and not run.system.is_minimum_norm(filter)
        if self.exact or probe is None or run.linearization.form != "dual" or not closed or rows < _FEWEST:
            return None
        assert isinstance(run.system, Dual)
        points = self.whole.points().flatten(0, 1).float()
        if run.system.rows is None:  # what is known of a probe are kernel values already
            seen = torch.cat([probe.seen[part].flatten(0, 1).float() for part in probe.seen.chunks()])
        else:
            seen = products(probe.rows, run.system.rows, torch.float32)
        first = torch.argsort(run.system.values, descending=True)[: max(_DIRECTIONS, rows // _ROWS_EACH)]
        inner = seen.T @ seen / probe.samples
        found = Leading.of(points @ points.T, inner, run.residual, run.system.basis[:, first])
        agreed = spearmanr(found.information(run.training), self.information).statistic
        return found if agreed >= _ALIKE else None

    def _stay(self, strategy: Strategy, kept: Indices, count: int, noise: Floats, look: Leading | None) -> Indices:
        """Positions within `kept` of the samples that stay."""
        strata = self.strata[kept]
        leaving = np.bincount(strata, minlength=len(self._sizes)) - share_out(self._sizes, count)
        if strategy == "greedy":
            gone = self._jointly_cheapest(self.part(kept), strata, leaving)
        elif strategy == "iterative" and len(kept) < len(noise):
            cost = self.part(kept).information() if look is None else look.information(self.whole.run.training)
            gone = _cheapest(cost, strata, leaving)
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
    def _subsets(self) -> Subsets:
        return Subsets(self.whole)

    @cached_property
    def _last(self) -> dict[bytes, Subset]:
        return {}

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
