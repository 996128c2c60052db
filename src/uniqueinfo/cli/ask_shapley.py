"""``uniqueinfo shapley``."""

from __future__ import annotations

from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def shapley(
    run: RunFolder,
    subsets: Annotated[int, typer.Option(help="Average over at most this many random subsets.", min=2)] = 200,
    tolerance: Annotated[
        float, typer.Option(help="Stop once half the samples have a standard error below this share of their average.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Of the subsets.")] = 0,
    as_json: Json = False,
) -> None:
    """What each sample adds to a random part of the data, with standard errors."""
    from uniqueinfo.applications.shapley import shapley as question
    from uniqueinfo.cli.asking import ask

    ask(run, lambda scores: question(scores, subsets=subsets, tolerance=tolerance, seed=seed), as_json=as_json)
