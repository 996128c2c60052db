"""What the commands do: call the library, print what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from uniqueinfo.applications.copies import told_copies
from uniqueinfo.applications.health import health
from uniqueinfo.cli.clock import elapsed
from uniqueinfo.cli.printing import Screen, print_json
from uniqueinfo.cli.stopping import stopping
from uniqueinfo.cli.tables import by_group, leading, print_table
from uniqueinfo.errors import InputError, known_names
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.page import read_again, write_page
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.runs.reopening import RUN, scores_of, validated
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.scores.folder import RunFolder
from uniqueinfo.scoring.agreement import told_effort
from uniqueinfo.store.files import held
from uniqueinfo.threads import sharing
from uniqueinfo.training import Training

if TYPE_CHECKING:
    from uniqueinfo.applications.mislabeled import Mislabeled
    from uniqueinfo.runs.estimate import Plan
    from uniqueinfo.scores.table import Scores

_FIRST = 5  # of the most informative samples, printed after scoring


def score(job: Job, out: Path, *, validate: int, dry_run: bool, overwrite: bool, wide: bool, as_json: bool) -> None:
    """Score into a run folder, unless that has been done; Ctrl-C leaves what is done there."""
    console = Screen()
    stopped = f"Stopped. The same command goes on from here; what is done lies in {out}"
    with stopping(stopped), sharing(job.threads):
        prepared = prepare(job)
        if dry_run:
            from uniqueinfo.runs.estimate import plan

            _print_plan(console, plan(prepared, elapsed()), prepared.notes, as_json=as_json)
            return
        prepared.check(validate)
        if overwrite:
            RunFolder.clear(out)
        run = Run.open(out, prepared.record())
        with held(out), run.folder.attempted():
            before = run.finished
            scores = scores_of(run, RUN) if before else prepared.score(run)  # its code is named by this very command
            if validate:
                run.keep(validated(run, scores, samples=validate, seed=job.seed, trust=RUN))
            done = before and run.report.is_file() and not validate
            page = None if done else write_page(run, scores, (prepared.train, prepared.val))
    if as_json:
        record = scores.settings["run"]
        found = {
            "run": str(out),
            "report": str(run.report),
            "finished_before": before,
            "samples": len(scores),
            "held_out": 0 if scores.held_out is None else len(scores.held_out),
        }
        told = {key: record[key] for key in ("notes", "timings", "copies") if key in record}
        print_json({**found, **told, "settings": record["settings"]})
        return
    if before:
        console.print(f"This run is finished already; nothing was computed again. Its scores are in {escape(str(out))}")
    suspects = _suspects(scores) if page is None else page.summary.suspects
    _print_findings(console, scores, suspects, wide=wide)
    for line in health(scores, told_copies(scores), run.answers()):
        console.print(escape(line))
    console.print(f"Page: {escape(str(run.report))}")


def show(folder: Path, *, top: int, by: str, wide: bool, as_json: bool) -> None:
    """Print the table of a run."""
    frame = everyone(Run.find(folder).scores()).frame()
    if by not in frame:
        raise InputError(f"--by {by}: there is no such column; {known_names(by, frame)}")
    most, least, groups = leading(frame, top), leading(frame, top, least=True), by_group(frame, by)
    if as_json:
        named = {"most_informative": most, "least_informative": least, "groups": groups.reset_index()}
        print_json({name: json.loads(table.to_json(orient="records")) for name, table in named.items()})
        return
    console = Screen(soft_wrap=False)
    print_table(console, f"Most informative of {len(frame):,} samples", most, wide=wide)
    print_table(console, "Least informative", least, wide=wide)
    if len(groups) > max(20, len(frame) / 2):
        console.print(
            f"By {escape(by)}: almost every sample has a value of its own; name a column of groups with --by."
        )
        return
    print_table(console, f"By {by}, mean information", groups.reset_index(), wide=wide)


def report(folder: Path, *, as_json: bool) -> None:
    """Write the page of a run anew, with its samples where their files are still the same."""
    run = Run.find(folder)
    scores = run.scores()
    samples, why_not = read_again(run)
    page = write_page(run, scores, samples)
    if as_json:
        print_json({"run": str(folder), "report": str(page.path), "summary": page.summary.as_json()})
        return
    console = Screen()
    if why_not:
        console.print(f"The samples themselves are not shown: {escape(why_not)}")
    console.print(f"Page: {escape(str(page.path))}")


def _suspects(scores: Scores) -> Mislabeled | None:
    """Labels that look wrong; None where outputs say nothing of labels, as of texts."""
    from uniqueinfo.applications.mislabeled import mislabeled
    from uniqueinfo.scores.predictions import task_of

    return None if task_of(scores) is None else mislabeled(scores)


def _print_findings(console: Screen, scores: Scores, suspects: Mislabeled | None, *, wide: bool) -> None:
    record = scores.settings["run"]
    for note in record["notes"]:
        console.print(f"Note: {escape(note)}")
    trained = Training.from_settings(scores.settings["training"]).words()
    seconds = record["timings"]["scoring"]
    held = scores.held_out
    added = ", each added once" if scores.settings.get("held_out", {}).get("added") else ""
    others = "" if held is None else f", and {len(held):,} held out{added}"
    console.print(f"{len(scores):,} samples, each left out once{others}, in {seconds:.1f} s ({trained}).\n")
    effort = told_effort(scores.settings)
    if effort is not None:
        console.print(escape(effort) + "\n")
    print_table(console, "Most informative", leading(everyone(scores).frame(), _FIRST), wide=wide)
    if suspects is not None:
        console.print(escape(suspects.sentence))


def _print_plan(console: Screen, found: Plan, notes: tuple[str, ...], *, as_json: bool) -> None:
    if as_json:
        print_json({"plan": found.as_json(), "notes": list(notes)})
        return
    for note in notes:
        console.print(f"Note: {escape(note)}")
    for name, value in found.lines().items():
        console.print(f"{name:<30} {value}")
