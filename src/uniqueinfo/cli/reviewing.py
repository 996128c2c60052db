"""What the commands about decisions do."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from uniqueinfo.review.cleaning import clean as cleaned
from uniqueinfo.review.outcomes import Outcomes, decisions_of
from uniqueinfo.runs.folder import Run


def clean(folder: Path, out: Path, decisions: list[Path], *, copy: bool, as_json: bool) -> None:
    """Write a cleaned data set, and say what was changed."""
    run = Run.find(folder)
    outcomes = Outcomes.of(decisions_of(run, decisions))
    found = cleaned(run, outcomes, out, copy=copy)
    if as_json:
        told = {"samples": found.samples, "relabelled": found.relabelled, "dropped": found.dropped}
        print(json.dumps({"run": str(folder), "out": str(out), **told}, indent=2, ensure_ascii=False))
        return
    _say(outcomes.sentence, outcomes.agreement.sentence, found.sentence)


def _say(*lines: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for line in filter(None, lines):
        console.print(escape(line))
