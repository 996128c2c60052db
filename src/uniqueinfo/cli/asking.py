"""Ask a question of a finished run: answer, keep, print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.markup import escape

from uniqueinfo.cli.printing import Screen, print_json
from uniqueinfo.cli.stopping import stopping
from uniqueinfo.cli.tables import print_table
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.page import read_again, write_page
from uniqueinfo.runs.reopening import NOBODY, CodeTrust, scores_of, validation_plan
from uniqueinfo.threads import sharing

if TYPE_CHECKING:
    from uniqueinfo.applications.answer import Answer
    from uniqueinfo.scores.table import Scores

_ROWS = 20  # of the table on the terminal

Found = TypeVar("Found", bound="Answer")


def ask(
    folder: Path, question: Callable[[Scores], Found], *, trust: CodeTrust = NOBODY, wide: bool, as_json: bool
) -> Found:
    """The answer, printed, and kept in the run folder so that its page shows it."""
    run = Run.find(folder)
    with stopping("Stopped; nothing was changed in the run folder."), sharing():
        scores = scores_of(run, trust)
        answer = question(scores)
        run.keep(answer)
        page = write_page(run, scores, read_again(run)[0]).path
    if as_json:
        print_json({"run": str(folder), "report": str(page), **answer.as_json()})
        return answer
    console, table = Screen(), answer.frame()
    console.print(escape(answer.sentence))
    if len(table):
        beginning = f", the first {_ROWS} of {len(table):,} rows" if len(table) > _ROWS else ""
        print_table(console, f"{answer.title}{beginning}", table.head(_ROWS), wide=wide)
    console.print(f"Page: {escape(str(page))}")
    return answer


def say_how_long(folder: Path, asked: Mapping[str, Any], *, trust: CodeTrust, as_json: bool) -> None:
    """What training again would take; nothing is trained, and nothing is kept."""
    run = Run.find(folder)
    found = validation_plan(run, run.scores(), trust, **asked)
    if as_json:
        plan = {"trainings": found.trainings, "steps": found.steps, "seconds": found.seconds, "reduced": found.reduced}
        print_json({"run": str(folder), "plan": plan, "sentence": found.sentence})
        return
    Screen().print(escape(found.sentence))
