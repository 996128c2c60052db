"""``uniqueinfo attribute``."""

from __future__ import annotations

from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def attribute(
    run: RunFolder,
    val_index: Annotated[int, typer.Option(help="Which validation sample, counted from 0.", min=0)],
    output: Annotated[
        str | None, typer.Option(help="Class to look at (else the predicted one), or the number of an output.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many training samples to name.", min=1)] = 20,
    as_json: Json = False,
) -> None:
    """Which training samples made the prediction of a validation sample what it is."""
    from uniqueinfo.applications.attribute import attribute as question
    from uniqueinfo.cli.asking import ask

    ask(run, lambda scores: question(scores, val_index, output=output, top=top), as_json=as_json)
