"""``uniqueinfo adversarial``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


def adversarial(
    run: RunFolder,
    inputs: Annotated[Path, typer.Argument(metavar="INPUTS", help="Data like that of the run; labels may be missing.")],
    level: Annotated[float, typer.Option(help="Share of clean inputs that may be taken for others.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Rank new inputs by what they would tell the network: which do not look like the training data?"""
    from uniqueinfo.applications.adversarial import adversarial as question
    from uniqueinfo.cli.asking import ask
    from uniqueinfo.runs.newdata import read_inputs

    ask(run, lambda scores: question(scores, read_inputs(run, inputs, scores.origin), level=level), as_json=as_json)
