"""How far the scores of a sketch may be off, score by score.

A sketch follows some directions exactly and gives one curvature to all others. To first order the change of a sample is
off in proportion to the part of its rows outside the directions kept, ‖J_i P‖², which is known exactly. The factor is
not, so it is measured: for a random few samples the directions in which they act are added to the sketch, which gives
their scores to many more digits. The factor is the one that would have covered 95 % of those errors, with the
correction for their small number (split conformal prediction), so it covers each other sample with that chance too,
whatever the data: nothing is assumed but that the few were drawn at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from uniqueinfo.information.measures import Measures, Wanted, measure
from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.leaving import Removals
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.krylov import Passes, RowPasses
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.types import Floats

LEVEL = 0.95
"""The share of scores that lie within their estimated error."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """By how much the scores of a sketch may be off, as a factor of what each score's error is in proportion to."""

    factors: Mapping[str, float]

    @classmethod
    def of(cls, run: TrainedSystem, probe: Probe | None = None, passes: Passes | None = None) -> Uncertainty | None:
        """Measured on a random few samples; None where nothing was sketched.

        All rows are gone through by `passes`; without them, in this process.
        """
        system = run.system
        if not isinstance(system, Sketched):
            return None
        few = [[int(sample)] for sample in system.followed]
        found = _measured(run, probe, few)
        if passes is None:
            assert system.rows is not None
            passes = RowPasses(system.rows, run.residual)
        better = _measured(replace(run, system=system.following(passes)), probe, few)
        sizes = {name: system.outside[system.followed] * size for name, size in _sizes(found).items()}
        off = {"loo_outputs": np.linalg.norm(found.own[1] - better.own[1], axis=(1, 2))}
        for name in sizes.keys() - off.keys():
            off[name] = np.abs(getattr(found, name) - getattr(better, name))
        return cls({name: factor(off[name], size) for name, size in sizes.items()})

    def errors(self, found: Measures, outside: Floats) -> dict[str, Floats]:
        """Of the measures of samples leaving alone, whose rows lie this much outside the directions kept.

        `loo_outputs` is the length of the error over all outputs.
        """
        return {name: self.factors[name] * outside * size for name, size in _sizes(found).items()}


def _measured(run: TrainedSystem, probe: Probe | None, groups: list[list[int]]) -> Measures:
    removals = Removals(run, Groups.of(groups, run.samples))
    seen = None if probe is None else replace(probe, system=run.system, known=None)
    target = None if seen is None else seen.target(run.coordinates)
    return measure(removals.changes(), len(removals), Wanted(target))


def factor(off: Floats, size: Floats) -> float:
    """The least factor with which `size` covers the errors `off`, and a new one with a chance of 95 %.

    >>> factor(np.arange(1.0, 101.0), np.ones(100))     # the 96th of 100: one more could come anywhere between them
    96.0
    """
    ratios = np.sort(np.divide(off, size, out=np.zeros_like(off), where=size > 0))
    return float(ratios[min(len(ratios), ceil(LEVEL * (len(ratios) + 1))) - 1])


def _sizes(found: Measures) -> dict[str, Floats]:
    """What the error of each measure is in proportion to, besides the part of the rows outside."""
    sizes = {"weight": found.weight, "loo_outputs": np.linalg.norm(found.own[1], axis=(1, 2))}
    if found.functional is not None:
        sizes["functional"] = found.functional
    if found.value is not None and found.functional is not None:
        sizes["value"] = np.sqrt(found.functional)  # a value may be nothing where the change of the function is not
    return sizes
