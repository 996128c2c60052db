"""``uniqueinfo subclasses``."""

from __future__ import annotations

from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def subclasses(
    run: RunFolder,
    label: Annotated[str | None, typer.Option(help="Look inside this class alone.")] = None,
    share: Annotated[
        float, typer.Option(help="Share of a class that is looked at: its most informative samples.", min=0, max=1)
    ] = 0.1,
    clusters: Annotated[int | None, typer.Option(help="How many groups; else as many as are told apart best.")] = None,
    seed: Annotated[int, typer.Option(help="Of the clustering.")] = 0,
    as_json: Json = False,
) -> None:
    """Find under-sampled groups inside a class: clusters of its most informative samples."""
    from uniqueinfo.applications.subclasses import subclasses as question
    from uniqueinfo.cli.asking import ask

    ask(run, lambda scores: question(scores, label, share=share, clusters=clusters, seed=seed), as_json=as_json)
