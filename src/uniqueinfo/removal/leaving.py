"""How groups of samples leave a trained system: in closed form through the poles, or by training the rest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.removal.changes import Changes, Delta, Explicit, Shift, assemble, is_factored
from uniqueinfo.removal.groups import Bucket, Groups
from uniqueinfo.removal.retracing import Retraced
from uniqueinfo.removal.solve import Solution, solve, solve_minimum_norm
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.orthogonal import LEFT_OVER, Orthogonal, left_over
from uniqueinfo.spectrum.rows import CHUNK_BYTES, slices
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Indices

_AFFORDABLE = 1e11  # cubed ranks of the removals that are trained one by one, each worth about ten operations: a minute
_TOGETHER = 64  # groups, whose rows are rotated together where they are wide: the basis is read anew for each product
_fit = lru_cache(maxsize=256)(fit)


class Removals:
    """Removals of samples or groups from one training; nothing is computed before it is asked for.

    `of` is how many there are in all, where these are some of them: what is affordable is judged by all.
    """

    def __init__(self, run: TrainedSystem, groups: Groups, of: int | None = None) -> None:
        self.groups = groups
        kind = Leaving if run.training.in_closed_form else Unlearning
        self._leaving = [kind(run, bucket, of or len(bucket.numbers)) for bucket in groups]

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def fit_error(self) -> float:
        """The largest error of the rational fits used (0 where none was needed)."""
        return max(leaving.fit_error for leaving in self._leaving)

    def changes(self) -> Iterator[Changes]:
        """What changes, chunk by chunk; groups come by size."""
        for leaving in self._leaving:
            yield from leaving.changes()


class Leaving:
    """How groups of one size leave.

    In closed form through the poles, or, where the groups are large, by training the rest.

    Under the mean loss the filter of the rest, φ', is another than that of all, φ. Then
    w − w₋ = [φ(H) − φ'(H)] Jᵀr + (the change of a removal under φ'), and the bracket is one shift for all removals.
    """

    rational: Rational | None = None
    closed: bool
    """Whether removals are in closed form."""
    shift: Shift
    """What all of them share; only in closed form."""

    def __init__(self, run: TrainedSystem, bucket: Bucket, of: int) -> None:
        self._of = of
        self._system, self._bucket, self._residual = run.system, bucket, run.residual
        remaining = run.samples - bucket.size or run.samples  # nothing is learnt from nothing, whatever the filter
        self._training, self._remaining, self._first = run.training, remaining, run.first
        self._filter = run.training.filter(remaining)
        self._before = run.coordinates
        self.closed = self._is_small() and self._is_stable()
        if self.closed:
            self.shift = Shift((self._before - run.coordinates_under(self._filter)).T.contiguous())
            if not self._system.is_minimum_norm(self._filter):
                self.rational = _fit(self._filter, self._system.largest)

    @property
    def fit_error(self) -> float:
        """Of the rational fit; 0 where none was needed."""
        return 0.0 if self.rational is None else self.rational.error

    def changes(self) -> Iterator[Changes]:
        """The changes of this bucket, chunk by chunk."""
        members = self._bucket.members
        for part, left, residual in self._parts():
            rows = self._system.right(left)
            delta = (
                self._in_closed_form(part, left, rows, residual) if self.closed else self._by_training(rows, residual)
            )
            yield Changes(self._bucket.numbers[part], members[part], part, len(members), rows, delta)

    def solutions(self) -> Iterator[Solution]:
        """In closed form, what the changes are made of, chunk by chunk, in the order of the groups."""
        for _, left, residual in self._parts():
            yield self._solution(left, residual)

    def _parts(self) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Some groups at a time, with their rows E and residuals; of few at a time, E of more is made together."""
        members, each = self._bucket.members, self._bytes_per_group()
        for whole in slices(len(members), min(each, CHUNK_BYTES // _TOGETHER)):
            together = left_of(self._system, members[whole])
            for some in slices(len(together), each):
                part = slice(whole.start + some.start, whole.start + some.stop)
                left = together[some]
                yield part, left, self._residual[torch.from_numpy(members[part]).to(left.device)].flatten(1, 2)

    def _in_closed_form(self, part: slice, left: Tensor, rows: Tensor, residual: Tensor) -> Delta:
        found = assemble(rows, self._solution(left, residual), self.shift)
        if not isinstance(self._system, Orthogonal) or not self._system.identity:
            return found
        return self._again(self._system, part, rows, found)

    def _again(self, system: Orthogonal, part: slice, rows: Tensor, found: Delta) -> Delta:
        """Blocks that hold a direction all but alone are trained without: 1 minus their leverage is rounding."""
        alone = np.flatnonzero(left_over(system, rows, self._filter) < LEFT_OVER)
        if not len(alone) or not system.affordable(len(alone)):
            return found
        delta = found.explicit().clone()
        for block in alone:
            members = torch.from_numpy(self._bucket.members[part][block] + self._first)
            delta[block] = (self._before - system.without(members, self._filter)).T
        return Explicit(delta)

    def _solution(self, left: Tensor, residual: Tensor) -> Solution:
        if self.rational is None:
            return solve_minimum_norm(self._system, left, residual)
        return solve(self._system, self.rational, left, residual)

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
        if not stable and self._of * self._system.rank**3 > _AFFORDABLE:
            self._training.check_stable(self._system.largest, self._remaining)
        return stable

    def _bytes_per_group(self) -> int:
        rows, columns, rank = self._rows(), self._residual.shape[2], self._system.rank
        if not self.closed:
            return 8 * (4 * rank * rank + rows * rank)
        functions = 1 if self.rational is None else self.rational.functions
        small = 64 * rows * (rows + columns)
        if is_factored(rows, columns, functions):
            return 8 * (rank * (2 + 2 * functions) + small)  # no change is ever written out
        return 8 * (rank * (2 * rows + 2 * rows * columns + 2 * columns) + small)


class Unlearning:
    """How groups of one size leave a training by another loss than squared error."""

    def __init__(self, run: TrainedSystem, bucket: Bucket, of: int) -> None:
        assert run.learnt is not None
        self._run, self._bucket, self._learnt = run, bucket, run.learnt

    @property
    def fit_error(self) -> float:
        """The typical relative error of a change."""
        return self._learnt.error

    def changes(self) -> Iterator[Changes]:
        """The changes of this bucket, chunk by chunk."""
        run, members = self._run, self._bucket.members
        leave = self._learnt.leaving(run.everyone)
        for part in self._parts():
            rows = run.system.right(left_of(run.system, members[part]))
            delta = run.space.coordinates(leave(run.block(members[part])))
            yield Changes(self._bucket.numbers[part], members[part], part, len(members), rows, Explicit(delta))

    def _parts(self) -> Iterator[slice]:
        """Some groups at a time: as many as fit where all go through the steps of a training together."""
        count, how = len(self._bucket.members), self._learnt.how
        if isinstance(how, Retraced):
            many = how.together(self._bucket.size)
            return (slice(at, min(at + many, count)) for at in range(0, count, many))
        return slices(count, self._bytes_per_group())

    def _bytes_per_group(self) -> int:
        rows, size = self._bucket.size * self._run.residual[0].numel(), self._run.space.size
        held = 4 * (self._learnt.points + 1) if self._learnt.passes > 1 else 4
        return 8 * (size * (3 * rows + held) + 64 * rows * (rows + 1))


def left_of(system: Eigensystem, members: Indices) -> Tensor:
    """E of every group, its samples' rows one after the other: (groups, rows, rank)."""
    flat = members.reshape(-1)
    run_of_samples = members.shape[1] == 1 and np.array_equal(flat, np.arange(flat[0], flat[0] + len(flat)))
    left = system.left(slice(flat[0], flat[0] + len(flat)) if run_of_samples else flat)
    return left.reshape(len(members), -1, system.rank)
