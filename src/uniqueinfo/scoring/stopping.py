"""`training="auto"`: the leave-one-out error of every stopping time, over samples that an engine looks at."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.removal.stopping import Grid, StoppingCurve, looked_at
from uniqueinfo.samples.border import Kind, takes
from uniqueinfo.scoring.engine import Here, Session
from uniqueinfo.scoring.pieces import Piece, Sources, shown, sizes
from uniqueinfo.scoring.sources import LinearizedSource
from uniqueinfo.spectrum.eigensystem import Eigensystem, FromRows
from uniqueinfo.spectrum.rows import Rows, slices
from uniqueinfo.threads import sharing


@takes(linearization=Kind("a linearization, as ui.linearize gives", (Linearization,)))
@sharing()
def stopping_curve(linearization: Linearization) -> StoppingCurve:
    """Half of the largest stable rate, and the leave-one-out error over a log grid of steps.

    `linearization`: as `linearize` gives it, or made from arrays.
    """
    sources = Sources(LinearizedSource.training(linearization))
    return curve_over(Here(sources), sources, linearization.system)


def curve_over(session: Session, sources: Sources, system: Eigensystem) -> StoppingCurve:
    """The same, over the samples of a session."""
    source = sources.train
    grid, chosen = Grid.of(system, source.samples), looked_at(source.samples)
    each = grid.bytes_per_sample(system.rank, source.per_sample, source.columns)
    pieces = {number: Piece("train", chosen[part]) for number, part in enumerate(slices(len(chosen), each))}
    shared = _Times(system.over(slice(None), None), grid)
    found = dict(shown("Stopping time", session.map(_error_of, shared, pieces), sizes(pieces)))
    return grid.curve(torch.stack([found[number] for number in pieces]).sum(dim=0) / len(chosen))


@dataclass(frozen=True, eq=False)
class _Times:
    """What the error of a stopping time needs to know beside the samples."""

    system: Eigensystem
    grid: Grid


def _error_of(sources: Sources, times: _Times, piece: Piece) -> Tensor:
    """A task: the leave-one-out error of some samples, for every stopping time."""
    chunk = sources.train.read(piece.index, rows=isinstance(times.system, FromRows))
    rows = None if chunk.rows is None else Rows(chunk.rows, chunk.rows.device)
    system = times.system.over(piece.index, rows)
    return times.grid.error(system, system.left(slice(None)), chunk.residual).cpu()
