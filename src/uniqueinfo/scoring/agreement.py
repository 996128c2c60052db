"""How well scores agree with exact ones where less than all of a network is kept: measured on some of the samples.

Some are drawn at random and scored twice, on each other alone: with everything, and as all of them are to be. Both are
trained as all are, for the longer a training the more is lost, and few samples on their own would stop sooner. Weights
that stand for all are fewer there in the proportion that samples are: what they lose depends on the rows on each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.coordinates import KernelCoordinates
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.linearization.effort import RATE, Kept, Means, Size, whole_operations
from uniqueinfo.samples.samples import Samples
from uniqueinfo.scores.table import Scores
from uniqueinfo.training import Training
from uniqueinfo.types import Indices

MEASURES = ("functional", "weight", "value")
_MOST, _FEWEST = 300, 30  # samples: with fewer a correlation says nothing
_SHARE = 0.2  # of the effort that may go into finding out
_NARROWEST = 20  # weights

Scored = Callable[[Training, tuple[Any, Any], Projection | None, Outputs | None], Scores]


@dataclass(frozen=True, eq=False)
class Trial:
    """What is kept of a network, and the samples it can be tried on."""

    kept: Kept
    size: Size
    means: Means
    train: Samples
    val: Samples | None
    scored: Scored

    def agreement(self, training: Training) -> Mapping[str, Any]:
        """Rank correlations by measure, and on how many samples; without them where exact scores are too dear."""
        count = self.samples
        if count < _FEWEST:
            return {"samples": 0, "why": f"exact scores of {_FEWEST} samples would take too long"}
        data = _some(self.train, count), None if self.val is None else _some(self.val, min(count, len(self.val)))
        outputs = self.kept.outputs
        try:
            exact = self.scored(training, data, None, None if outputs is None or outputs.alike else outputs)
            ours = self.scored(training, data, self._projection(count), outputs)
        except InputError as error:  # such as a rate that is too high for these few
            return {"samples": 0, "why": str(error)}
        return {"samples": count, **correlations(ours, exact)}

    @property
    def samples(self) -> int:
        """How many can be scored exactly within a share of the effort."""
        most = min(_MOST, self.size.samples)
        while most >= _FEWEST and self._operations(most) > _SHARE * RATE * self.means.seconds:
            most = most * 9 // 10
        return most

    @property
    def operations(self) -> float:
        """Of the exact scores; the others take little beside them."""
        count = self.samples
        return self._operations(count) if count >= _FEWEST else 0.0

    def _operations(self, count: int) -> float:
        return whole_operations(replace(self.size, samples=count, others=min(count, self.size.others)), self.means)

    def _projection(self, count: int) -> Projection | None:
        found = self.kept.projection
        if not isinstance(found, KernelCoordinates):
            return found
        return replace(found, total=max(_NARROWEST, found.total * count // self.size.samples))


def correlations(one: Scores, other: Scores) -> dict[str, float]:
    """Spearman's, of every measure that both have.

    >>> from types import SimpleNamespace
    >>> some = SimpleNamespace(functional=np.arange(4.0), weight=np.arange(4.0), value=None)
    >>> correlations(some, some)
    {'functional': 1.0, 'weight': 1.0}
    """
    both = {name: (getattr(one, name), getattr(other, name)) for name in MEASURES}
    known = {name: pair for name, pair in both.items() if pair[0] is not None and pair[1] is not None}
    return {name: round(float(spearmanr(*pair).statistic), 3) for name, pair in known.items()}


def told_effort(settings: Mapping[str, Any]) -> str | None:
    """A sentence for people: what was left out of scores, and what that costs; None where nothing was."""
    found = settings.get("agreement")
    if found is None:
        return None
    said = f"Effort {settings['effort']}: {settings['projection_why']}."
    known = {name: found[name] for name in MEASURES if name in found}
    if not known:
        return f"{said} How well that agrees with exact scores is not known: {found['why']}."
    by = ", ".join(f"{value:.2f}".lstrip("0") + f" ({name})" for name, value in known.items())
    return (
        f"{said} On {found['samples']:,} of your samples, scored alone, ranks agree with exact ones by {by}. "
        'effort="exact" keeps all.'
    )


def _some(samples: Samples, count: int) -> tuple[Any, Any]:
    """As many, drawn at random, as a user would hand them over."""
    drawn: Indices = np.sort(np.random.default_rng(0).choice(len(samples), count, replace=False))
    batch = replace(samples, asked=False).read(drawn.tolist())
    return batch.inputs, batch.labels
