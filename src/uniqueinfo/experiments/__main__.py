"""``python -m uniqueinfo.experiments NAME --scale small|paper --out DIR``: one of the paper's tables or figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.table import Table

from uniqueinfo.errors import UniqueInfoError
from uniqueinfo.experiments.runner import EXPERIMENTS, Claim, Request, Scale, reproduce


def main(arguments: list[str] | None = None) -> int:
    """Run it, and print its figures beside the paper's."""
    parser = argparse.ArgumentParser(prog="python -m uniqueinfo.experiments", description=__doc__)
    parser.add_argument("name", choices=EXPERIMENTS, help="; ".join(f"{n}: {what}" for n, what in EXPERIMENTS.items()))
    parser.add_argument("--scale", choices=get_args(Scale), default="small", help="minutes, or the paper's sizes")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the results")
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    console = Console()
    try:
        result = reproduce(given.name, Request(given.scale, given.data, given.seed), given.out)
    except UniqueInfoError as wrong:
        Console(stderr=True).print(f"{wrong}", style="red")
        return 1
    table = Table("what", "ours", "paper", "holds", title=f"{given.name}, {given.scale} scale", title_justify="left")
    for claim in result.claims:
        held = "" if claim.holds is None else "yes" if claim.holds else "[red]NO[/]"
        table.add_row(claim.what, _shown(claim), "" if claim.paper is None else f"{claim.paper}", held)
        if claim.note:
            table.add_row(f"[dim]{claim.note}[/]")
    console.print(table)
    console.print(f"written to {given.out / given.name}")
    return 0


def _shown(claim: Claim) -> str:
    value = claim.ours if isinstance(claim.ours, str) else f"{claim.ours:.3g}"
    return value if claim.low is None or claim.high is None else f"{value} [{claim.low:.3g}, {claim.high:.3g}]"


if __name__ == "__main__":
    sys.exit(main())
