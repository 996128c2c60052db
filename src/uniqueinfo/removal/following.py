"""How samples leave a training by any loss, stopped after a time.

With δ = w − w₋ the difference of the runs with and without a block of samples, over each stretch of the course

    δ' = −rate [(H₋ + λ) δ + b(t)],    H₋ = Σ_{others} JᵀAJ,    b = Σ_{block} Jᵀg − (block/n) Σ_{all} Jᵀg

(the last sum under the mean loss only: the others weigh more when some leave). A is taken along the run with all
samples, so this is of first order in the removal. The closed form of a stretch goes through the poles p of its
functions: with R = (H − p)⁻¹, and J and A those of the block,

    (H₋ − p)⁻¹ u = R u + R Jᵀ y,    (I − A J R Jᵀ) y = A J R u.

What was left out is of second order: ρ = g(f) − g(f − Jδ) − A Jδ of every other sample. Known from a first pass, it is
one more push, and a second pass with it follows the real difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.removal.blocks import Block, Everyone, Some, staying, together
from uniqueinfo.removal.course import Course, Point, Stepped, Stretch, follow
from uniqueinfo.removal.solve import quadratic
from uniqueinfo.removal.weighted import WeightedRows
from uniqueinfo.training.losses import Loss
from uniqueinfo.training.propagation import Propagation, propagation
from uniqueinfo.types import Indices

_STILL = 1e-9  # of the size of a change: far below the error that the stretches leave
_UNSETTLED = 1e-2  # a pass that still changes more: others' curvature bends too far to be a correction
_AFFORDABLE = 1e12  # operations for training a chunk's worst removals again


@dataclass(frozen=True, eq=False)
class Following:
    """Removals from a course."""

    course: Course
    loss: Loss
    everyone: Everyone | None = None
    """Needed for a second pass."""
    passes: int = 1

    def __call__(self, block: Block) -> Tensor:
        """δ after the training, (removals, size of the weights)."""
        found = self._pass(block, None)
        change = found.new_zeros(block.removals)
        for _ in range(self.passes - 1):
            before, found = found, self._pass(block, self._bent(block, found))
            change = (found[-1] - before[-1]).norm(dim=1) / found[-1].norm(dim=1).clamp(min=1e-300)
            if float(change.max()) < _STILL:
                break
        return self._trained_again(block, found[-1], change)

    def along(self, block: Block) -> Tensor:
        """δ at the ends of all stretches to first order, the start first, (stretches + 1, removals, size)."""
        return self._pass(block, None)

    def _trained_again(self, block: Block, delta: Tensor, change: Tensor) -> Tensor:
        """Removals so large that passes do not settle them are trained again without their samples, worst first."""
        if not isinstance(self.course.training, Stepped):
            return delta
        worst = [int(at) for at in change.argsort(descending=True) if change[at] > _UNSETTLED]
        if not worst or self.everyone is None:
            return delta
        each = len(self.course.stretches) * len(self.course.end) ** 2 * (10.0 * len(self.course.end))
        found = delta.clone()
        for at in worst[: max(1, int(_AFFORDABLE / each))]:
            rest = _Rest(self.everyone, block.members[at], self.loss, self.course.samples, len(self.course.end))
            found[at] = self.course.end - follow(rest, self.course.training, len(self.course.stretches)).end
        return found

    def _pass(self, block: Block, bent: Tensor | None) -> Tensor:
        """One pass, with what bends the others' gradients (stretches, 2, removals, size) as a further push."""
        delta = self.course.end.new_zeros(block.removals, len(self.course.end))
        found = [delta]
        for number, stretch in enumerate(self.course.stretches):
            delta = self._over(stretch, block, delta, None if bent is None else bent[number])
            found.append(delta)
        return torch.stack(found)

    def _over(self, stretch: Stretch, block: Block, delta: Tensor, bent: Tensor | None) -> Tensor:
        """δ at the end of a stretch."""
        remaining = self.course.samples - block.size or self.course.samples
        steps = propagation(stretch.filter(remaining), stretch.largest)
        rotated = block.some.rows.rotated(stretch.basis).reshape(block.removals, -1, len(stretch.values))
        ends = [block.some.outputs(point) for point in (stretch.start, stretch.end)]
        curvature = (
            self.loss.curvature(ends[0], block.some.targets) + self.loss.curvature(ends[1], block.some.targets)
        ) / 2
        pushes = [
            torch.einsum(
                "bkd,bk->bd", rotated, self.loss.gradient(outputs, block.some.targets).reshape(block.removals, -1)
            )
            for outputs in ends
        ]
        shared = stretch.pushes @ stretch.basis * self._share(block)
        first, last = (push - common for push, common in zip(pushes, shared, strict=True))
        if bent is not None:
            first, last = first + bent[0] @ stretch.basis, last + bent[1] @ stretch.basis
        vectors = torch.stack([delta @ stretch.basis, -first, first - last])
        return _removed(stretch, steps, rotated, together(curvature, block), vectors) @ stretch.basis.T

    def _share(self, block: Block) -> float:
        """What the mean over the others takes from all together, where the loss is a mean."""
        return block.size / self.course.samples if self.course.training.reduction == "mean" else 0.0

    def _bent(self, block: Block, along: Tensor) -> Tensor:
        """Σ_{others} Jᵀρ at both ends of every stretch, (stretches, 2, removals, size)."""
        assert self.everyone is not None
        stretches = self.course.stretches
        total = along.new_zeros(len(stretches), 2, *along.shape[1:])
        for some in self.everyone():
            others = staying(block.members, some.numbers, along)
            outputs = [some.outputs(point) for point in self.course.points]
            curved = [self.loss.curvature(each, some.targets) for each in outputs]
            for at, (here, delta) in enumerate(zip(outputs, along, strict=True)):
                moved = some.rows.moved(delta)
                less = self.loss.gradient(here, some.targets) - some.gradients(self.loss, here - moved)
                for number, end in ((at - 1, 1), (at, 0)):
                    if 0 <= number < len(stretches):
                        mean = (curved[number] + curved[number + 1]) / 2
                        rest = less - torch.einsum("nkl,bnl->bnk", mean, moved)
                        total[number, end] += some.rows.pushed(rest * others)
        return total


@dataclass(frozen=True, eq=False)
class _Rest:
    """Sums over all samples but some."""

    everyone: Everyone
    left: Indices
    loss: Loss
    all: int
    size: int

    @property
    def samples(self) -> int:
        """How many stay."""
        return self.all - len(self.left) or self.all

    def gradient(self, point: Point) -> Tensor:
        """Σ Jᵀg."""
        return torch.stack([some.gradient(self.loss, point) for some in self._staying()]).sum(dim=0)

    def curvature(self, start: Point, end: Point) -> Tensor:
        """Σ JᵀAJ."""
        return torch.stack([some.curvature(self.loss, (start, end)) for some in self._staying()]).sum(dim=0)

    def _staying(self) -> Iterator[Some]:
        for some in self.everyone():
            kept = staying(self.left[None], some.numbers, some.initial)[0, :, 0] > 0
            rows = WeightedRows(some.rows.rows[kept], some.rows.columns)
            yield Some(some.numbers[kept.cpu().numpy()], rows, some.initial[kept], some.targets[kept])


def _removed(stretch: Stretch, steps: Propagation, rows: Tensor, curvature: Tensor, vectors: Tensor) -> Tensor:
    """E(H₋)δ + φ(H₋)u + ψ(H₋)v for three vectors each (3, removals, size), in the eigenbasis; rows are the blocks'."""
    device = rows.device
    z = stretch.values.clamp(min=0)
    whole = torch.from_numpy(steps.values(z.cpu().numpy())).to(device)
    kept = torch.einsum("fd,fbd->bd", whole, vectors)
    if len(steps.poles) == 0:
        return kept
    resolvent = 1 / (z[:, None] - torch.from_numpy(steps.poles).to(device))
    halves = torch.cat([resolvent.real, resolvent.imag], dim=1)
    poles = len(steps.poles)
    weights = torch.from_numpy(steps.weights).to(device)
    seen = rows.new_zeros(*rows.shape[:2], poles, dtype=torch.complex128)
    for vector, weight in zip(vectors, weights, strict=True):
        products = (rows * vector[:, None]) @ halves
        seen = seen + torch.complex(products[..., :poles], products[..., poles:]) * weight
    blocks = quadratic(rows, halves).permute(0, 3, 1, 2)
    curvature = curvature[:, None].to(blocks.dtype)
    matrix = torch.eye(rows.shape[1], dtype=blocks.dtype, device=device) - curvature @ blocks
    y = torch.linalg.solve(matrix, curvature @ seen.permute(0, 2, 1)[..., None])[..., 0]
    twice = torch.from_numpy(np.where(np.equal(steps.poles.imag, 0), 1.0, 2.0)).to(device)
    coefficients = (y * twice[:, None]).permute(0, 2, 1)
    spectral = coefficients.real @ resolvent.real.T - coefficients.imag @ resolvent.imag.T
    found: Tensor = kept + (spectral * rows).sum(dim=1)
    return found
