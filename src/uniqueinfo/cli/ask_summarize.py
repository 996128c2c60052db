"""``uniqueinfo summarize``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


class StrategyChoice(StrEnum):
    """Which samples leave first."""

    iterative = "iterative"
    greedy = "greedy"
    bottom = "bottom"
    top = "top"
    random = "random"


def summarize(
    run: RunFolder,
    keep: Annotated[float, typer.Option(help="Share of the samples to keep.")] = 0.3,
    strategy: Annotated[
        StrategyChoice,
        typer.Option(
            help="iterative: the least informative leave, the rest is scored anew; greedy: what has left counts too "
            "(slower, better); bottom: scored once; top and random, to compare."
        ),
    ] = StrategyChoice.iterative,
    step: Annotated[float, typer.Option(help="Share that leaves at a time.")] = 0.05,
    balanced: Annotated[bool, typer.Option("--balanced", help="Take the same share of every class.")] = False,
    seed: Annotated[int, typer.Option(help="Of what is picked at random.")] = 0,
    export: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Write the ids of the kept samples.")] = None,
    as_json: Json = False,
) -> None:
    """Find the few samples that are enough."""
    from uniqueinfo.applications.summarize import summarize as choose
    from uniqueinfo.cli.asking import ask
    from uniqueinfo.cli.exporting import check_export, export_table

    check_export(export)
    found = ask(
        run,
        lambda scores: choose(scores, keep=keep, strategy=strategy.value, step=step, balanced=balanced, seed=seed),
        as_json=as_json,
    )
    export_table(found.kept_frame(), export)
