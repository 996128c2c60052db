"""What the commands about decisions do."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from uniqueinfo.review import exchange
from uniqueinfo.review.cleaning import clean as cleaned
from uniqueinfo.review.decisions import NAME
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


def decisions(folder: Path, export: Path | None, import_: Path | None, *, form: str, by: str, as_json: bool) -> None:
    """Take over answers, write suspects and decisions, say what stands."""
    run = Run.find(folder)
    told = []
    if import_ is not None:
        told.append(f"Taken over from {import_}: {exchange.import_(run, import_, form, by):,} decisions.")
    if export is not None:
        told.append(f"Written to {export}: {exchange.export(run, export, form):,} samples.")
    outcomes = Outcomes.of(decisions_of(run)) if export is None or (run.path / NAME).exists() else None
    if as_json:
        found = {} if outcomes is None else {name: asdict(one) for name, one in outcomes.by_sample.items()}
        people = {} if outcomes is None else outcomes.people
        print(json.dumps({"run": str(folder), "decisions": found, "people": people}, indent=2, ensure_ascii=False))
        return
    _say(*told, *([] if outcomes is None else [outcomes.sentence, outcomes.agreement.sentence]))


def _say(*lines: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for line in filter(None, lines):
        console.print(escape(line))
