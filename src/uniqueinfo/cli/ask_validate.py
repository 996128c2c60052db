"""``uniqueinfo validate``."""

from __future__ import annotations

from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def validate(
    run: RunFolder,
    samples: Annotated[int, typer.Option(help="How many samples to train again without: 10 or more.")] = 12,
    seed: Annotated[int, typer.Option(help="Of which samples.")] = 0,
    as_json: Json = False,
) -> None:
    """Train again without a few samples: how far are the scores to be trusted?"""
    from uniqueinfo.cli.asking import ask
    from uniqueinfo.runs.folder import Run
    from uniqueinfo.runs.reopening import validated

    ask(run, lambda scores: validated(Run.find(run), scores, samples=samples, seed=seed), as_json=as_json)
