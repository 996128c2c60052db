"""Which samples to get: one after the other, each that which adds most to what those before it are expected to tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uniqueinfo.progress import progress
from uniqueinfo.removal.additions import filter_with
from uniqueinfo.removal.joining import Drawn, Joining
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.training import Filter
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats, Indices


@dataclass(frozen=True, eq=False)
class Chosen:
    """Samples in the order in which they were chosen."""

    order: Indices
    information: Floats
    """Expected of the first, of the first two together, …, of all that were chosen."""
    alone: Floats
    """Expected of every sample that could be chosen, added alone."""

    @property
    def gain(self) -> Floats:
        """What each added to those before it."""
        return np.diff(self.information, prepend=0.0)


def choose(run: TrainedSystem, joining: Joining, drawn: Drawn, count: int) -> Chosen:
    """Choose greedily: the set grows by the sample with which it is expected to tell most.

    Every step looks at every sample, added to all that were chosen before: a set's information is that of all of it
    joining at once (see `joining`), so that samples which repeat one another count once.

    >>> import torch
    >>> from uniqueinfo.linearization.linearization import Linearization
    >>> from uniqueinfo.training import Converged
    >>> start = Linearization.from_features([[0.1, 0.1]], [[0.0]])
    >>> run = start.train(Converged(0.01, reduction="sum"))
    >>> joining = Joining.of(run, None, start.probe([[1.0, 0.0], [1.0, 0.0], [0.0, 0.9]]))
    >>> unknown = Drawn(torch.zeros(3, 1, 1).double(), torch.ones(3, 1, 1).double())
    >>> choose(run, joining, unknown, 2).order          # the second repeats the first
    array([2, 0])
    """
    fits = _Fits(joining.largest(count))
    order, information, alone = np.empty(count, dtype=np.intp), np.empty(count), np.empty(0)
    with progress("Choosing", count) as advance:
        for step in range(count):
            filter = filter_with(run, step + 1)
            each = joining.with_each(filter, fits(filter), drawn).cpu().numpy()
            alone = each if step == 0 else alone
            each[order[:step]] = -np.inf
            order[step] = each.argmax()
            information[step] = each[order[step]]
            joining = joining.joined(order[step : step + 1], drawn)
            advance(1)
    return Chosen(order, information, alone)


class _Fits:
    """Filters over poles, up to one eigenvalue; under a summed loss all steps share one."""

    def __init__(self, largest: float) -> None:
        self._largest, self._known = largest, dict[Filter, Rational]()

    def __call__(self, filter: Filter) -> Rational:
        if filter not in self._known:
            self._known[filter] = fit(filter, self._largest)
        return self._known[filter]
