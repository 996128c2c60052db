"""What follows from the sums: the eigenvectors, the training, and from then on the scores of any partition.

With H = JᵀJ = U S Uᵀ and the sums over the validation samples, G = J_valᵀJ_val and g = J_valᵀ r_val (r: targets minus
initial outputs), everything a score needs beside the sample's own rows is known: Uᵀw = φ(S) UᵀJᵀr, the Fisher matrix
F = UᵀGU/m, and the gradient of the mean validation loss, F Uᵀw − Uᵀg/m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.information.measures import Target, measure
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.removal.changes import Metric
from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.removal import Removal
from uniqueinfo.scoring.sources import Part
from uniqueinfo.scoring.sums import Sums
from uniqueinfo.spectrum.eigensystem import Primal, eigh
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.training import Training
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues (D,) and eigenvectors (D, D) of JᵀJ, Jᵀr in their basis (D, columns), and of how many samples."""

    values: Floats
    basis: Floats
    moment: Floats
    samples: int

    @classmethod
    def of(cls, sums: Sums) -> Spectrum:
        """Decompose the sum over all samples.

        >>> Spectrum.of(Sums(np.diag([4.0, 1.0]), np.array([[2.0], [1.0]]), samples=3)).values
        array([1., 4.])
        """
        values, basis = eigh(torch.from_numpy(sums.gram))
        found = values.clamp(min=0).numpy(), basis.contiguous().numpy()
        return cls(*found, np.asarray(found[1].T @ sums.moment), sums.samples)

    def system(self, rows: Rows) -> Primal:
        """The eigensystem that all samples share, on the rows of some."""
        return _Given(self, rows)


class _Given(Primal):
    """The primal form, its sums taken elsewhere."""

    def __init__(self, found: Spectrum, rows: Rows) -> None:
        self._rows = rows
        self._basis = _tensor(found.basis, rows.device)
        self.values = _tensor(found.values, rows.device)
        self.moment = self.left_moment = _tensor(found.moment, rows.device)


class _PartOfRun(Trained):
    """All samples trained together, of which some are looked at."""

    def __init__(self, system: Primal, residual: Tensor, samples: int, training: Training) -> None:
        self.system, self.residual, self.samples, self.training = system, residual, samples, training
        self.coordinates = self.coordinates_under(training.filter(samples))


@dataclass(frozen=True, eq=False)
class Solver:
    """Scores of any partition."""

    spectrum: Spectrum
    training: Training
    fisher: Floats | None
    gradient: Floats | None
    factor: float = 1.0
    """Squared changes of mixed outputs are counted for all outputs by it."""

    @classmethod
    def of(cls, spectrum: Spectrum, training: Training, val: Sums | None, factor: float = 1.0) -> Solver:
        """From the sums over the validation samples, if there are any."""
        if val is None:
            return cls(spectrum, training, None, None, factor)
        fisher = spectrum.basis.T @ val.gram @ spectrum.basis / val.samples
        if val.moment.shape[1] == 0:
            return cls(spectrum, training, fisher, None, factor)
        rows = Rows(np.empty((0, 1, len(spectrum.values))))
        system = spectrum.system(rows)
        filter = training.filter(spectrum.samples)
        weights = system.apply(filter).numpy()[:, None] * spectrum.moment
        gradient = fisher @ weights - spectrum.basis.T @ val.moment / val.samples
        return cls(spectrum, training, fisher, np.ascontiguousarray(gradient.T), factor)

    def __sizeof__(self) -> int:  # what a cluster counts against its memory
        held = (self.spectrum.basis, self.fisher, self.gradient)
        return sum(array.nbytes for array in held if array is not None)

    def scores(self, part: Part) -> dict[str, Any]:
        """The measures of each sample, leaving it out of all."""
        assert part.targets is not None
        residual = part.targets - part.initial
        rows = Rows(part.rows, part.rows.device)
        run = _PartOfRun(self.spectrum.system(rows), residual, self.spectrum.samples, self.training)
        removal = Removal(run, Groups.each(len(part.rows)))
        found = measure(removal.changes(), len(removal), self._target(part.rows.device))
        outputs = (part.initial + run.system.fitted(run.coordinates)).flatten(1).cpu().numpy()
        return {
            "weight": found.weight * self.factor,
            "functional": None if found.functional is None else found.functional * self.factor,
            "value": None if found.value is None else found.value * self.factor,
            "loo_outputs": outputs - found.own[1][:, 0],
            "outputs": outputs,
            "targets": part.targets.flatten(1).cpu().numpy(),
            "labels": part.labels,
        }

    @property
    def fit_error(self) -> float:
        """Of the rational fit of the filter without a sample."""
        system = self.spectrum.system(Rows(np.zeros((1, 1, len(self.spectrum.values)))))
        run = _PartOfRun(system, torch.zeros(1, 1, 1), self.spectrum.samples, self.training)
        return Removal(run, Groups.each(1)).fit_error

    def _target(self, device: torch.device) -> Target | None:
        if self.fisher is None:
            return None
        gradient = None if self.gradient is None else _tensor(self.gradient, device)
        return Target(Metric(_tensor(self.fisher, device), factor=False), gradient)


def _tensor(array: Floats, device: torch.device) -> Tensor:
    """Copied where it must be: torch takes no read-only memory, and what comes from another process is that."""
    return torch.from_numpy(np.require(array, requirements="W")).to(device)
