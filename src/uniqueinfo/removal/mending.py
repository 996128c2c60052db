"""Leave-one-out outputs that follow when labels are mended and samples dropped, one after the other.

Per pole p of the filter, with R = (H − p)⁻¹ of the samples that are there, z the rows of a sample, m = Σ zᵀr:

    h = z R zᵀ,   x = z R m,   and what is said without the sample: (I − h)⁻¹ (x − h r)

so all there is to know of every sample are two small blocks for each pole. With u = z R zᵢᵀ of every sample with sample
i, one matrix product,

    another label, r + Δ:   x ← x + uΔ
    i leaves (σ = −1),      R ← R − σ R zᵢᵀ S⁻¹ zᵢ R,      S = I + σhᵢ
    or comes back (σ = 1):  h ← h − σ u S⁻¹ uᵀ,   x ← x + σ u S⁻¹ (rᵢ − xᵢ)

Nothing is decomposed again, and no sample is gone through on its own. Rate and decay stay what they were when all
samples were there; under a mean loss, training without them anew would raise them by the share that has left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.removal.solve import quadratic
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training.rational import Rational, fit
from uniqueinfo.types import Floats, Indices

_MOST_BYTES = 2**31
"""Of the blocks of all samples."""


def why_not_mended(run: TrainedSystem) -> str | None:
    """Why outputs cannot follow changes of labels; None where they can."""
    if not run.training.in_closed_form:
        return "outputs follow changes in closed form under squared error alone"
    if isinstance(run.system, Sketched):
        return "a sketch keeps only some directions"
    if run.samples < 3 or run.system.is_minimum_norm(run.training.filter(run.samples - 1)):
        return "training to the end without weight decay has no filter to follow; add a little decay"
    return None


@dataclass(frozen=True, eq=False)
class Mended:
    """Every sample, seen by the training on those that are in it with the labels they have now; made by `of`.

    >>> from uniqueinfo.linearization.linearization import Linearization
    >>> from uniqueinfo.training import Converged
    >>> X, y = [[1.0], [1.0], [1.0]], [[0.0], [3.0], [6.0]]
    >>> run = Linearization.from_features(X, y).train(Converged(1.0, reduction="sum"))
    >>> now = Mended.of(run)                    # of the two others: their sum by 2 + 1
    >>> now.left_out().ravel().round(6)
    array([3., 2., 1.])
    >>> now.relabelled(np.array([0]), np.array([[3.0]])).left_out().ravel().round(6)
    array([3., 3., 2.])
    >>> now.without(0).left_out().ravel().round(6)     # the first is said by both, the others by one alone
    array([3. , 3. , 1.5])
    >>> now.without(0).with_(0).left_out().ravel().round(6)
    array([3., 2., 1.])
    """

    rows: Tensor
    """Z of every sample, (samples, rows, rank): those trained on, and others that are only looked at."""
    inside: Tensor
    """Whether each is trained on, (samples,)."""
    residual: Tensor
    """Targets − initial outputs, (samples, rows, columns)."""
    initial: Tensor
    """Outputs before training, of the same shape."""
    rational: Rational
    resolvent: Tensor
    """1/(s − p), (rank, poles)."""
    h: Tensor
    """(samples, rows, rows, poles)."""
    x: Tensor
    """(samples, rows, columns, poles)."""
    pull: Tensor
    """z m, (samples, rows, columns): what the constant of the filter multiplies."""
    left: Tensor
    right: Tensor
    """R = diag(resolvent) + left rightᵀ: what samples that left have changed, (rank, changes, poles)."""

    @classmethod
    def of(cls, run: TrainedSystem, others: Probe | None = None) -> Mended:
        """All samples of a training, and after them `others`, which are only looked at; see `why_not_mended`."""
        system, residual, initial = run.system, run.residual, run.initial.to(run.residual.dtype)
        rational = fit(run.training.filter(run.samples - 1), system.largest)
        rows = system.right(system.left(slice(0, run.samples)))
        moment = system.moment
        if others is not None:
            seen = [system.rotate(others.seen[part]) for part in others.seen.chunks()]
            rows = torch.cat([rows, *seen])
            wanted = torch.zeros_like(others.initial) if others.targets is None else others.targets - others.initial
            residual, initial = torch.cat([residual, wanted]), torch.cat([initial, others.initial.to(initial.dtype)])
        poles = torch.from_numpy(rational.poles).to(rows.device)
        resolvent = 1 / (system.values[:, None] - poles)
        h, x = _blocks(rows, resolvent, moment)
        none = resolvent.new_zeros(system.rank, 0, len(poles))
        inside = torch.arange(len(rows), device=rows.device) < run.samples
        pull = rows @ moment
        return cls(rows, inside, residual, initial, rational, resolvent, h, x, pull, left=none, right=none)

    @staticmethod
    def bytes_for(run: TrainedSystem, others: int = 0) -> int:
        """About what the blocks of all samples will take."""
        samples, rows, columns = run.samples + others, *run.residual.shape[1:]
        return 16 * 16 * samples * rows * (2 * rows + 2 * columns) + 8 * samples * rows * run.system.rank

    @classmethod
    def affordable(cls, run: TrainedSystem, others: int = 0) -> bool:
        """Whether they may be held."""
        return cls.bytes_for(run, others) <= _MOST_BYTES

    def relabelled(self, samples: Indices, targets: Floats) -> Mended:
        """With other targets (samples, outputs) of some samples: those in the training move all others."""
        at = torch.from_numpy(samples).to(self.inside.device)
        wanted = torch.from_numpy(np.asarray(targets, dtype=np.float64)).to(self.residual)
        residual = self.residual.clone()
        residual[at] = wanted.reshape(-1, *self.residual.shape[1:]) - self.initial[at]
        trained = at[self.inside[at]]
        if not len(trained):
            return replace(self, residual=residual)
        change = residual[trained] - self.residual[trained]
        moment = torch.einsum("sar,sac->rc", self.rows[trained], change)
        if len(trained) == 1:  # all outputs move along the one row: as many times fewer products as there are outputs
            u = self._seen(self._reached(self.rows[trained[0]].T))
            x = self.x + torch.einsum("nabp,bc->nacp", u, change[0].to(u.dtype))
        else:
            x = self.x + self._seen(self._reached(moment))
        return replace(self, residual=residual, x=x, pull=self.pull + self.rows @ moment)

    def without(self, sample: int) -> Mended:
        """After a sample has left."""
        return self._moved(sample, -1.0)

    def with_(self, sample: int) -> Mended:
        """After a sample that had left came back."""
        return self._moved(sample, 1.0)

    def outputs(self) -> Floats:
        """What the training on all that are in it says, (samples, outputs)."""
        return self._said(self.x, self.pull)

    def left_out(self) -> Floats:
        """What is said of each sample without it, (samples, outputs)."""
        r = self.residual.to(self.x.dtype)
        free = _identity(self.h) - self.h
        if self.h.shape[1] == 1:
            alone = (self.x - self.h * r[..., None]) / free
        else:
            drive = self.x - torch.einsum("nabp,nbc->nacp", self.h, r)
            alone = _solve(free, drive)
        outside = ~self.inside[:, None, None]
        pull = self.pull
        if self.rational.constant:
            own = self.rows @ self.rows.mT
            pull = torch.where(outside, pull, pull - own @ self.residual)
        return self._said(torch.where(outside[..., None], self.x, alone), pull)

    def _moved(self, sample: int, sign: float) -> Mended:
        if bool(self.inside[sample]) == (sign > 0):
            return self
        reached = self._reached(self.rows[sample].T)
        u = self._seen(reached)
        S = torch.eye(self.h.shape[1], dtype=u.dtype, device=u.device)[..., None] + sign * self.h[sample]
        inverse = torch.linalg.inv(S.permute(2, 0, 1)).permute(1, 2, 0)
        scaled = torch.einsum("nabp,bcp->nacp", u, inverse)
        lack = self.residual[sample].to(u.dtype)[..., None] - self.x[sample]
        inside = self.inside.clone()
        inside[sample] = sign > 0
        return replace(
            self,
            inside=inside,
            h=self.h - sign * torch.einsum("nabp,ncbp->nacp", scaled, u),
            x=self.x + sign * torch.einsum("nabp,bcp->nacp", scaled, lack),
            pull=self.pull + sign * self.rows @ (self.rows[sample].T @ self.residual[sample]),
            left=torch.cat([self.left, -sign * torch.einsum("rap,abp->rbp", reached, inverse)], dim=1),
            right=torch.cat([self.right, reached], dim=1),
        )

    def _reached(self, vectors: Tensor) -> Tensor:
        """R of vectors (rank, some), for every pole: (rank, some, poles)."""
        given = vectors.to(self.resolvent.dtype)
        found = self.resolvent[:, None] * given[..., None]
        if self.right.shape[1]:
            found = found + torch.einsum("rgp,gsp->rsp", self.left, torch.einsum("rgp,rs->gsp", self.right, given))
        return found

    def _seen(self, vectors: Tensor) -> Tensor:
        """z of every sample times vectors (rank, some, poles): (samples, rows, some, poles)."""
        flat = vectors.flatten(1)
        found = self.rows.flatten(0, 1) @ torch.cat([flat.real, flat.imag], dim=1)
        real, imaginary = found.chunk(2, dim=1)
        shape = (*self.rows.shape[:2], *vectors.shape[1:])
        return torch.complex(real.contiguous(), imaginary.contiguous()).reshape(shape)

    def _said(self, values: Tensor, pull: Tensor) -> Floats:
        """Σ c value over the poles, a pair's twice its real part, and the constant's part; with initial outputs."""
        weights = torch.from_numpy(self.rational.weights).to(values.device)
        weights = torch.where(torch.from_numpy(self.rational.is_real).to(values.device), weights, 2 * weights)
        found = self.initial + values.real @ weights.real - values.imag @ weights.imag + self.rational.constant * pull
        said: Floats = found.flatten(1).cpu().numpy()
        return said


def _blocks(rows: Tensor, resolvent: Tensor, moment: Tensor) -> tuple[Tensor, Tensor]:
    """h and x of every sample, some at a time."""
    samples, per_sample, rank = rows.shape
    poles, columns = resolvent.shape[1], moment.shape[1]
    halves = torch.cat([resolvent.real, resolvent.imag], dim=1)
    drive = torch.einsum("rc,rq->rcq", moment, halves).flatten(1)
    h = resolvent.new_empty(samples, per_sample, per_sample, poles)
    x = resolvent.new_empty(samples, per_sample, columns, poles)
    for part in slices(samples, 16 * per_sample * (rank + per_sample * poles + columns * poles)):
        h[part] = quadratic(rows[part], halves)
        reached = (rows[part] @ drive).reshape(-1, per_sample, columns, 2, poles)
        x[part] = torch.complex(reached[..., 0, :].contiguous(), reached[..., 1, :].contiguous())
    return h, x


def _identity(blocks: Tensor) -> Tensor:
    return torch.eye(blocks.shape[1], dtype=blocks.dtype, device=blocks.device)[..., None]


def _solve(matrices: Tensor, sides: Tensor) -> Tensor:
    found: Tensor = torch.linalg.solve(matrices.permute(0, 3, 1, 2), sides.permute(0, 3, 1, 2))
    return found.permute(0, 2, 3, 1)
