"""Scores of a network that streams: its samples as sources, then as any others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from uniqueinfo.engine.network import NetworkSource
from uniqueinfo.engine.rows import with_rows
from uniqueinfo.engine.sources import Sources
from uniqueinfo.errors import InputError
from uniqueinfo.networks import DEFAULT_PROJECTION
from uniqueinfo.progress import showing
from uniqueinfo.scoring import Columns, score_stream
from uniqueinfo.training import Training

if TYPE_CHECKING:
    from uniqueinfo.engine.engine import Engine
    from uniqueinfo.jacobian.passes import NetworkPasses
    from uniqueinfo.networks import Chosen
    from uniqueinfo.scores import Scores


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
