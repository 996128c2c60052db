"""``uniqueinfo redundancy``."""

from __future__ import annotations

from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def redundancy(
    run: RunFolder,
    near: Annotated[
        float,
        typer.Option(
            help="Near-duplicates are closer than this share of the usual distance to a nearest neighbour.", min=0
        ),
    ] = 0.4,
    most: Annotated[int, typer.Option(help="Look at no more than this many of the closest pairs.", min=1)] = 1000,
    as_json: Json = False,
) -> None:
    """Name duplicates: in the training data, between it and the validation data, and those with different labels."""
    from uniqueinfo.applications.redundancy import redundancy as question
    from uniqueinfo.cli.asking import ask

    ask(run, lambda scores: question(scores, near=near, most=most), as_json=as_json)
