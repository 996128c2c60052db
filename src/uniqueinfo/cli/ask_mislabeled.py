"""``uniqueinfo mislabeled``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from uniqueinfo.cli.options import Json, RunFolder


class CriterionChoice(StrEnum):
    """What makes a label suspicious."""

    margin = "margin"
    information = "information"


def mislabeled(
    run: RunFolder,
    criterion: Annotated[
        CriterionChoice,
        typer.Option(
            help="margin: the network trained without a sample contradicts its label; information: it learns "
            "much from it."
        ),
    ] = CriterionChoice.margin,
    noise_rate: Annotated[
        float | None, typer.Option(help="Share of labels to suspect; estimated where not given.", min=0, max=1)
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write all samples with the suspects' labels replaced.")
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Leave suspects out of the export.")] = False,
    as_json: Json = False,
) -> None:
    """Find labels that look wrong."""
    from uniqueinfo.applications.mislabeled import mislabeled as find
    from uniqueinfo.cli.asking import ask
    from uniqueinfo.cli.exporting import check_export, export_table
    from uniqueinfo.errors import InputError

    if drop and export is None:
        raise InputError("--drop: says what to export; name a file with --export")
    check_export(export)
    found = ask(run, lambda scores: find(scores, criterion=criterion.value, noise_rate=noise_rate), as_json=as_json)
    export_table(found.cleaned(drop=drop), export)
