"""How many digits of scores rounding leaves, where training run to the end divides by small eigenvalues."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from uniqueinfo.scoring.parts import NamedPiece, Solver
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Problem
from uniqueinfo.spectrum.dual import Dual
from uniqueinfo.spectrum.eigensystem import EPS, Eigensystem
from uniqueinfo.spectrum.orthogonal import (
    LEFT_OVER,
    Orthogonal,
    conditioning,
    left_over,
    suited,
)
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.training import ConvergedFilter, Filter, Training
from uniqueinfo.types import Floats

_FEWEST = 1e-6  # six digits
_LOOKED_AT = 200  # samples whose scores are computed a second time
_CAUTION = 30.0  # what one trial of rounding may fall short of the worst
_LEAST = 1e-12  # of the smallest scores that count
_STEADY = 0.1  # a small eigenvalue that changes by less when rows are rounded otherwise is none of rounding
_SMALL = 1e-3  # of the largest score: errors of smaller ones are told as a share of this much of it


@dataclass(frozen=True)
class Rounding:
    """How much rounding there is in scores.

    Errors are relative to each score, and to a thousandth of the largest one where a score is smaller than that.
    """

    error: float
    """The largest to be expected; 1 where no digit is sure."""
    conditioning: float
    """Of the rows J, with the decay: the largest singular value over the smallest."""
    from_rows: bool
    """Whether the rows themselves were decomposed; else their products, in which small directions count squared."""

    def warn(self) -> None:
        """Say where fewer than six digits are left."""
        if self.error > _FEWEST:
            warnings.warn(
                f"rounding leaves fewer than six digits of these scores: relative errors up to about {self.error:.0e} "
                f"are to be expected, as the gradients have condition number {self.conditioning:.0e} and training to "
                "the end divides by their smallest directions; add weight decay, or stop early (GradientFlow)",
                stacklevel=2,
            )


def solved_with(
    problem: Problem, sources: Sources, system: Eigensystem, training: Training
) -> tuple[Eigensystem, float]:
    """The system that scores are computed with: of the rows themselves where products of them lose too much.

    With it the least that any leverage leaves below 1.
    """
    train = sources.train
    if problem.choice.form not in ("dual", "primal") or train.width is None:
        return system, 1.0
    every = slice(0, train.samples)
    return suited(system, training, train.samples, train.rows(), lambda: train.read(every, rows=False).residual)


def stated(
    system: Eigensystem,
    rest: float,
    training: Training,
    sources: Sources,
    solver: Solver,
    solver_of: Callable[[Eigensystem], Solver],
) -> dict[str, Any] | None:
    """For the settings, and said where few digits are left; None where training divides by nothing small.

    `system` and `rest` are as `solved_with` found them.
    """
    if not isinstance(system, Dual | Primal | Orthogonal) or not training.in_closed_form:
        return None
    found = rounding(system, rest, training, sources, solver, solver_of)
    if found is not None:
        found.warn()
    return None if found is None else asdict(found)


def rounding(
    system: Eigensystem,
    rest: float,
    training: Training,
    sources: Sources,
    solver: Solver,
    solver_of: Callable[[Eigensystem], Solver],
) -> Rounding | None:
    """None for trainings that divide by nothing small.

    Where the rows were decomposed, all is done once more with rows that are rounded otherwise in their last digit, and
    the difference is what such rounding does. Of their products the error is bounded: ε times the squared condition.
    """
    samples = sources.train.samples
    if not isinstance(training.filter(samples), ConvergedFilter):
        return None
    filter, condition = training.filter(samples), float(np.sqrt(conditioning(system, training, samples)))
    if not isinstance(system, Orthogonal):
        error = _LEAST + 8 * system.rank**0.5 * EPS * max(condition**2, _seen_from(system, filter)) / rest
        return Rounding(float(min(1.0, error)), condition, False)
    few = NamedPiece("train", slice(0, min(samples, _LOOKED_AT)))
    again = _rounded_otherwise(system)
    one, other = replace(solver, written=False).scores(sources, few), solver_of(again).scores(sources, few)
    found = max(_apart(one.weight, other.weight), _apart(one.functional, other.functional))
    expected = _LEAST + _CAUTION * (found + _cancelled(system, filter)) + 32 * EPS * _kept(system, filter)
    return Rounding(1.0 if _is_cut(system, again, filter) else float(min(1.0, expected)), condition, True)


def _seen_from(system: Eigensystem, filter: Filter) -> float:
    """In the dual form other samples are divided by singular values without their decay."""
    values = system.values[system.values > system.negligible]
    if system.identity or not filter.decay or not len(values):
        return 1.0
    least = float(values.min())
    return system.largest / float(np.sqrt(least) * np.sqrt(least + filter.decay))


def _kept(system: Orthogonal, filter: Filter) -> float:
    """The condition number of the directions that were told from rounding."""
    values = system.values[system.values > system.negligible]
    return float((system.largest / (values.min() + filter.decay)) ** 0.5) if len(values) else 1.0


def _is_cut(system: Orthogonal, again: Orthogonal, filter: Filter) -> bool:
    """Whether directions were taken for rounding, or all but, that are none: rounded otherwise, they stay as they are.

    What is rounding, as between rows that are there twice, is something else each time.
    """
    if filter.decay > 1e4 * system.negligible:
        return False
    small = (system.values > 0) & (system.values < 1e4 * system.negligible)
    change = (again.values[small] / system.values[small] - 1).abs()
    return bool((change < _STEADY).any())


def _cancelled(system: Orthogonal, filter: Filter) -> float:
    """What is lost where a leverage is taken from 1, of samples that are not trained without one by one."""
    if not system.identity:
        return 0.0
    rest = left_over(system, system.points, filter)
    again = rest < LEFT_OVER
    if system.affordable(int(again.sum())):
        rest = rest[~again]
    return EPS / max(float(rest.min()), EPS) if len(rest) else 0.0


def _rounded_otherwise(system: Orthogonal) -> Orthogonal:
    assert system.rows is not None
    rows = system.rows[:]
    generator = torch.Generator().manual_seed(0)
    turned = torch.rand(rows.shape, generator=generator, dtype=torch.float64).to(rows.device)
    return Orthogonal.of(Rows(rows * (1 + EPS * (2 * turned - 1)), rows.device), system.residual)


def _apart(one: Floats | None, other: Floats | None) -> float:
    """The largest difference as a share of the score."""
    if one is None or other is None or not len(one):
        return 0.0
    size = np.maximum(np.abs(one), _SMALL * np.abs(one).max())
    return float((np.abs(one - other) / np.where(size > 0, size, 1.0)).max())
