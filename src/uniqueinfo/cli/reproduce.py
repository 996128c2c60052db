"""The command ``reproduce``: the paper's tables and figures by name."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from uniqueinfo.errors import UniqueInfoError
from uniqueinfo.experiments.gallery import write_gallery
from uniqueinfo.experiments.runner import EXPERIMENTS, Claim, Request, Result
from uniqueinfo.experiments.runner import reproduce as run
from uniqueinfo.plain import records


def reproduce(name: str, request: Request, out: Path, *, as_json: bool) -> None:
    """Run one experiment, or `all`: those that cannot run are told at the end."""
    console = Console(highlight=False, soft_wrap=True)
    names = list(EXPERIMENTS) if name == "all" else [name]
    found, failed = {}, {}
    for each in names:
        started = time.perf_counter()
        try:
            found[each] = run(each, request, out)
        except UniqueInfoError as wrong:
            if name != "all":
                raise
            failed[each] = str(wrong)
            continue
        if not as_json:
            console.print(_table(each, request, found[each], time.perf_counter() - started))
            console.print(f"written to {escape(str(out / each))}\n")
    if as_json:
        claims = {each: records(pd.DataFrame(result.claims)) for each, result in found.items()}
        print(json.dumps({"out": str(out), "claims": claims, "failed": failed}, indent=2, ensure_ascii=False))
    for each, why in failed.items():
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"{each} did not run: {escape(why)}")
    if failed:
        raise typer.Exit(1)


def list_experiments(*, as_json: bool) -> None:
    """Print the names there are."""
    if as_json:
        print(json.dumps(EXPERIMENTS, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True)
    for name, what in EXPERIMENTS.items():
        console.print(f"{name:<15} {escape(what)}")


def gallery(results: Path, page: Path) -> None:
    """Write the page of a results folder."""
    write_gallery(results, page)
    Console(highlight=False, soft_wrap=True).print(f"Page: {escape(str(page))}")


def _table(name: str, request: Request, result: Result, seconds: float) -> Table:
    title = f"{name}, {request.scale} scale, {seconds:.0f} s"
    table = Table("what", "ours", "paper", "holds", title=title, title_justify="left")
    for claim in result.claims:
        held = "" if claim.holds is None else "yes" if claim.holds else "[red]NO[/]"
        paper = "" if claim.paper is None else escape(str(claim.paper))
        table.add_row(escape(claim.what), escape(shown(claim)), paper, held)
        if claim.note:
            table.add_row(f"[dim]{escape(claim.note)}[/]")
    return table


def shown(claim: Claim) -> str:
    """Our figure with its interval.

    >>> shown(Claim("correlation", 0.3642, 0.298, 0.43))
    '0.364 [0.298, 0.43]'
    """
    value = claim.ours if isinstance(claim.ours, str) else f"{claim.ours:.3g}"
    return value if claim.low is None or claim.high is None else f"{value} [{claim.low:.3g}, {claim.high:.3g}]"
