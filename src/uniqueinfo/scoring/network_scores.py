"""Scores of a network that streams: its samples as sources, then as any others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from uniqueinfo.errors import InputError
from uniqueinfo.progress import showing
from uniqueinfo.scoring.arrays import Columns, score_stream
from uniqueinfo.scoring.network import DEFAULT_PROJECTION
from uniqueinfo.scoring.network_source import NetworkSource
from uniqueinfo.scoring.rows import with_rows
from uniqueinfo.scoring.sources import Sources
from uniqueinfo.training import Training

if TYPE_CHECKING:
    from uniqueinfo.jacobian.passes import NetworkPasses
    from uniqueinfo.scores.table import Scores
    from uniqueinfo.scoring.engine import Engine
    from uniqueinfo.scoring.network import Chosen


def score_network(
    network: NetworkPasses,
    train: Any,
    val: Any,
    projection: Chosen,
    training: Training | Literal["auto"],
    engine: Engine | str | None,
    out: Path | None,
    keep: bool | None,
    ids: Any,
    columns: Columns,
) -> Scores:
    """Partition by partition; rows computed twice or kept in between, whichever is cheaper."""
    samples = network.samples(train)
    chosen = DEFAULT_PROJECTION if projection == "auto" else projection
    source = NetworkSource.of(network.model, samples, chosen, network.sketch, network.device, network.memory)
    if source.read(slice(0, 1)).targets is None:
        raise InputError("train: these samples have no labels; hand over (inputs, labels)")
    sources = Sources(source, None if val is None else source.over(network.samples(val)))
    with showing(network.progress):
        return score_stream(
            with_rows(sources, source, network.folder, out, keep, tell=network.progress),
            training,
            memory=network.memory,
            engine=engine,
            out=out,
            ids=samples.ids if ids is None else ids,
            columns=columns,
            factor=1.0 if network.sketch is None else network.sketch.factor(source.classes),
            settings={"projection": repr(chosen), "notes": list(source.notes)},
        )
