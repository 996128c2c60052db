"""Which samples are there twice, from what is at hand after training: kernels or rows, and no point in the eigenbasis.

The inner product of two samples is that of their rows, summed over outputs: Σ_a J_ia · J_ja, the trace of a block of
the kernel. So where kernel values are held, comparing all samples costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from uniqueinfo.linearization.network import LinearizedNetwork
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.linearization.points import Pairs, Points, apart, closest, closest_pairs
from uniqueinfo.spectrum.dual import Dual
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import Rows, slices

AFFORDABLE = 5e10
"""Multiplications that comparing may take unasked: some ten seconds of one processor core."""


def quick_pairs(origin: Origin, *, most: int) -> Pairs | None:
    """The closest pairs of training samples; None where finding them would take long."""
    linearization, samples = origin.run.linearization, origin.run.samples
    if linearization.kernel is not None:
        return _by_kernel(linearization.kernel, samples, origin.run.residual.shape[1], most)
    rows = linearization.rows
    if rows is None or not _kept(origin) or samples**2 * rows.per_sample * rows.width / 2 > AFFORDABLE:
        return None
    return closest_pairs(_points(rows), most=most)


def quick_pairs_across(origin: Origin, *, most: int) -> Pairs | None:
    """The closest pairs of a validation (first) and a training sample (second); None where that would take long."""
    probe, system, rows = origin.probe, origin.run.system, origin.run.linearization.rows
    if probe is None:
        return None
    if isinstance(system, Dual):
        return _by_values(system, probe, rows, most) if _values_cost(system, probe, rows) <= AFFORDABLE else None
    if rows is None or not _kept(origin) or rows.samples * probe.samples * rows.per_sample * rows.width > AFFORDABLE:
        return None
    return closest_pairs(_points(probe.rows), _points(rows), most=most)


def _by_kernel(kernel: Tensor, samples: int, outputs: int, most: int) -> Pairs:
    blocks = kernel.reshape(samples, outputs, samples, outputs)
    inner = blocks.diagonal(dim1=1, dim2=3).sum(dim=-1)
    own = inner.diagonal().clone()
    whole = [slice(0, samples)]
    return closest(whole, None, lambda part: lambda other: apart(own[part], own[other], inner[part, other]), most=most)


def _by_values(system: Dual, probe: Probe, rows: Rows | None, most: int) -> Pairs:
    """Through the kernel values J_val Jᵀ, and the samples' own lengths."""
    outputs = system.vectors.shape[1]
    own = (system.vectors.square() @ system.values).sum(dim=1)

    def squares(part: slice) -> Callable[[slice], Tensor]:
        values = probe.seen[part]
        blocks = values.reshape(len(values), outputs, -1, outputs)
        inner = blocks.diagonal(dim1=1, dim2=3).sum(dim=-1)
        seen = system.rotate(values) if rows is None else probe.rows[part]
        found = apart(seen.flatten(1).square().sum(dim=1), own, inner)
        return lambda _: found

    each = 8 * outputs * (2 * system.rank + (0 if rows is None else rows.width))
    return closest(list(slices(probe.samples, each)), [slice(0, len(own))], squares, most=most)


def _values_cost(system: Dual, probe: Probe, rows: Rows | None) -> float:
    """Multiplications: kernel values that are not held yet, or the lengths of samples known by their kernels alone."""
    others = probe.samples * probe.rows.per_sample
    if rows is None:
        return float(others) * system.rank**2
    held = "seen" in vars(probe) and isinstance(probe.seen.source, Tensor)
    return float(others) * rows.width * (1 if held else system.rank)


def _points(rows: Rows) -> Points:
    return Points(rows.samples, rows.per_sample * rows.width, lambda part: rows[part].flatten(1))


def _kept(origin: Origin) -> bool:
    """Whether rows are at hand, and need not be computed by the network again."""
    found = origin.run.linearization
    return not isinstance(found, LinearizedNetwork) or found.jacobian is None or found.jacobian.keeper is not None
