"""Leave out samples or groups of a trained linearization, and measure what changes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.information.measures import Measures, Smoothed, measure
from uniqueinfo.progress import progress as bar
from uniqueinfo.removal.changes import Changes, Delta, Explicit, assemble
from uniqueinfo.removal.groups import Bucket, Groups
from uniqueinfo.removal.solve import solve, solve_minimum_norm
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats, Indices

if TYPE_CHECKING:
    from uniqueinfo.information.smoothing import Smoothing
    from uniqueinfo.linearization.linearization import Probe, Trained

_AFFORDABLE = 1e11  # cubed ranks, each worth about ten operations: a minute at most
_TOLD = 0.01  # the share of smoothed information made by the floor from which on it is said
_fit = lru_cache(maxsize=256)(fit)


class Removal:
    """Removals of samples or groups from one training; nothing is computed before it is asked for.

    Every measure comes in the order of the groups (of the samples, where each leaves alone).
    """

    def __init__(self, run: Trained, groups: Groups) -> None:
        self._run, self._groups = run, groups
        self._ways = [_Way(run, bucket) for bucket in groups]

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def fit_error(self) -> float:
        """The largest error of the rational fits used (0 where none was needed)."""
        return max((way.rational.error for way in self._ways if way.rational), default=0.0)

    def changes(self) -> Iterator[Changes]:
        """The raw changes, chunk by chunk; groups come by size."""
        for way in self._ways:
            yield from way.changes()

    def measures(
        self, probe: Probe | None = None, smoothing: Smoothing | None = None, *, progress: bool = False
    ) -> Measures:
        """Every measure in one pass; `progress` shows how far it is."""
        precision = smoothing.precision(self._run) if smoothing else None
        target = probe.target(self._run) if probe else None
        found = measure(self._shown(progress), len(self), target, precision)
        if found.smoothed is not None:
            _warn_of_floor(found.smoothed)
        return found

    def _shown(self, show: bool) -> Iterator[Changes]:
        with bar("Leaving out", len(self), unit="removals", show=show) as advance:
            for chunk in self.changes():
                yield chunk
                advance(len(chunk.numbers))

    def weight_information(self, smoothing: Smoothing | None = None, *, exact: bool = False) -> Floats:
        """½‖w − w₋‖² of each removal; with a smoothing Σ, ½(w − w₋)ᵀΣ⁻¹(w − w₋) as `smoothed` gives it."""
        return self.measures().weight if smoothing is None else self.smoothed(smoothing, exact=exact).information

    def smoothed(self, smoothing: Smoothing, *, exact: bool = False) -> Smoothed:
        """Information in the weights with a smoothing, and how well its covariance could be inverted.

        A removal changes the steady state of SGD; with `exact=True` each removal has its own covariance Σ₋, and the
        information is KL(N(w, Σ) ‖ N(w₋, Σ₋)): an eigendecomposition for each, so for small problems.
        """
        if exact:
            found = smoothing.exact(self._run, self.changes(), len(self))
            _warn_of_floor(found)
            return found
        measured = self.measures(smoothing=smoothing).smoothed
        assert measured is not None
        return measured

    def functional_information(self, probe: Probe) -> Floats:
        """(1/2m) Σ_j ‖f_w(x_j) − f_w₋(x_j)‖² over the validation samples, of each removal."""
        found = self.measures(probe).functional
        assert found is not None
        return found

    def value(self, probe: Probe) -> Floats:
        """What the mean validation loss gains by each removal; needs validation targets."""
        found = self.measures(probe).value
        if found is None:
            raise InputError("the value of a sample needs the targets of the validation samples")
        return found

    def outputs(self) -> list[Floats]:
        """Outputs of the removed samples themselves after training without them: (size, outputs) for each removal."""
        fitted, moved = self._run.outputs(), self.measures().own
        found: list[Floats] = [np.empty(0)] * len(self)
        for bucket in self._groups:
            after = fitted[bucket.members] - moved[bucket.size]
            for number, block in zip(bucket.numbers, after, strict=True):
                found[number] = block
        return found

    def output_changes(self, probe: Probe) -> Iterator[tuple[Indices, Floats]]:
        """f_w − f_w₋ on every validation sample, chunk by chunk: (numbers of the removals, (removals, m, outputs))."""
        for chunk in self.changes():
            yield chunk.numbers, probe.moved(chunk.delta.explicit())


def _warn_of_floor(found: Smoothed) -> None:
    if found.conditioning is not None and found.share_below_floor > _TOLD:
        warnings.warn(
            f"{found.share_below_floor:.0%} of the smoothed information lies in the {found.conditioning.raised} of "
            f"{found.conditioning.dimensions} directions whose variance was raised to {found.conditioning.floor:g} of "
            "the largest: it depends on this floor. Add weight decay, stop earlier, or compare several floors.",
            stacklevel=3,
        )


class _Way:
    """How groups of one size leave: in closed form through the poles, or, where they are large, by training the rest.

    Under the mean loss the filter of the rest, φ', is another than that of all, φ. Then
    w − w₋ = [φ(H) − φ'(H)] Jᵀr + (the change of a removal under φ'), and the bracket is one shift for all removals.
    """

    rational: Rational | None = None

    def __init__(self, run: Trained, bucket: Bucket) -> None:
        self._system, self._bucket, self._residual = run.system, bucket, run.residual
        remaining = run.samples - bucket.size or run.samples  # nothing is learnt from nothing, whatever the filter
        self._training, self._remaining = run.training, remaining
        self._filter = run.training.filter(remaining)
        self._before = run.coordinates
        self._closed = self._is_small() and self._is_stable()
        if self._closed:
            self._shift = (self._before - run.coordinates_under(self._filter)).T
            if not self._system.is_minimum_norm(self._filter):
                self.rational = _fit(self._filter, self._system.largest)

    def changes(self) -> Iterator[Changes]:
        """The changes of this bucket, chunk by chunk."""
        members = self._bucket.members
        for part in slices(len(members), self._bytes_per_group()):
            left = self._left(members[part])
            rows = self._system.right(left)
            residual = self._residual[torch.from_numpy(members[part]).to(left.device)].flatten(1, 2)
            delta = self._in_closed_form(left, rows, residual) if self._closed else self._by_training(rows, residual)
            yield Changes(self._bucket.numbers[part], members[part], part, len(members), rows, delta)

    def _left(self, members: Indices) -> Tensor:
        """E of every group, its samples' rows one after the other: (groups, rows, rank)."""
        flat = members.reshape(-1)
        run_of_samples = members.shape[1] == 1 and np.array_equal(flat, np.arange(flat[0], flat[0] + len(flat)))
        left = self._system.left(slice(flat[0], flat[0] + len(flat)) if run_of_samples else flat)
        return left.reshape(len(members), -1, self._system.rank)

    def _in_closed_form(self, left: Tensor, rows: Tensor, residual: Tensor) -> Delta:
        if self.rational is None:
            return assemble(rows, solve_minimum_norm(self._system, left, residual), self._shift)
        return assemble(rows, solve(self._system, self.rational, left, residual), self._shift)

    def _by_training(self, rows: Tensor, residual: Tensor) -> Delta:
        """Train on the rest in the eigenbasis: H' = diag(s) − ZᵀZ has as many rows as there are coordinates."""
        values, basis = torch.linalg.eigh(torch.diag(self._system.values) - rows.transpose(1, 2) @ rows)
        self._training.check_stable(float(values.max()), self._remaining)
        moment = basis.transpose(1, 2) @ (self._system.moment - rows.transpose(1, 2) @ residual)
        delta = self._before - basis @ (self._system.apply(self._filter, values)[..., None] * moment)
        return Explicit(delta.transpose(1, 2))

    def _rows(self) -> int:
        return self._bucket.size * self._residual.shape[1]

    def _is_small(self) -> bool:
        """Whether the poles' solves (about 16 complex ones of `rows`) cost less than an eigendecomposition."""
        return 40 * self._rows() ** 3 <= 10 * self._system.rank**3 or self._bucket.size == 1

    def _is_stable(self) -> bool:
        """Whether the rest surely trains stably, though the mean over fewer samples raises the rate.

        Interlacing bounds the rest's spectrum. Where that does not settle it, training the rest does, if it is cheap.
        """
        stable = self._training.rate < self._training.largest_stable_rate(self._system.largest, self._remaining)
        if not stable and len(self._bucket.members) * self._system.rank**3 > _AFFORDABLE:
            self._training.check_stable(self._system.largest, self._remaining)
        return stable

    def _bytes_per_group(self) -> int:
        rows, columns, rank = self._rows(), self._residual.shape[2], self._system.rank
        if not self._closed:
            return 8 * (4 * rank * rank + rows * rank)
        return 8 * (rank * (2 * rows + 2 * rows * columns + 2 * columns) + 64 * rows * (rows + columns))
