"""``uniqueinfo compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def compare(
    run: RunFolder,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="Column of groups: source, annotator, label, …")] = "label",
    seed: Annotated[int, typer.Option(help="Of the intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Compare sources, annotators or classes: which is worth more of?"""
    from uniqueinfo.applications.compare import compare as look
    from uniqueinfo.cli.asking import ask

    ask(run, lambda scores: look(scores, by, seed=seed), as_json=as_json)
