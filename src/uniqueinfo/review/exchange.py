"""Decisions to other tools and back: suspects and what was decided go out, answers made there come in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from uniqueinfo.applications.mislabeled import mislabeled
from uniqueinfo.errors import InputError
from uniqueinfo.pages.suspects import chance_wrong
from uniqueinfo.pages.views import View
from uniqueinfo.review.decisions import NAME, Decision, Ledger, read, standing
from uniqueinfo.review.formats.form import Record, decided, format_named
from uniqueinfo.review.outcomes import given_labels
from uniqueinfo.review.session import check
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.page import read_again, sample_views
from uniqueinfo.store.files import held, replacing
from uniqueinfo.store.plain import plain


def export(run: Run, path: Path, name: str) -> int:
    """Write the suspects of a run, and what was decided on, in a format; how many there are."""
    form = format_named(name)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise InputError(f"--export {path}: expected a file in a folder that is there")
    _, classes = given_labels(run)
    records = list(_records(run))
    content = form.write(records, classes)
    with replacing(path) as beside:
        beside.write_text(content, encoding="utf-8")
    return len(records)


def import_(run: Run, path: Path, name: str, by: str) -> int:
    """Take over the answers of a file in a format; `by` made those whose author it does not name. How many."""
    form = format_named(name)
    given, classes = given_labels(run)
    try:
        answers = form.read(path.read_text(encoding="utf-8"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"--import {path}: cannot be read ({error.strerror}); check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(
            f"--import {path}: is not {form.words} ({type(error).__name__}: {error}); name the file that was exported"
        ) from error
    strange = next((one.id for one in answers if one.id not in given), None)
    if strange is not None:
        raise InputError(f"{path}: names sample {strange!r}, which this run does not have")
    made = [decided(one, given[one.id], by) for one in answers]
    check(made, given, classes)
    with held(run.path):
        ledger = Ledger(run.path / NAME)
        known = standing(ledger.decisions)
        new = [one for one in made if not _same(known.get(one.sample, {}).get(one.by), one)]
        if new:
            ledger.append(*new)
    return len(new)


def _same(before: Decision | None, now: Decision) -> bool:
    return before is not None and before.outcome == now.outcome


def _records(run: Run) -> Iterator[Record]:
    """Samples that were decided on, and all suspects, in the order of suspicion."""
    found = mislabeled(run.scores())
    path = run.path / NAME
    opinions = standing(read(path)) if path.exists() else {}
    samples = read_again(run)[0]
    show = None if samples is None else sample_views(*samples).train
    source = Path(run.record["paths"]["train"]) if run.asked else Path()
    rows = found.frame(everyone=True).to_dict("records")
    for place, (at, row) in enumerate(zip(found.samples.tolist(), rows, strict=True)):
        name = str(row["id"])
        if place < found.count or name in opinions:
            chance = chance_wrong(row)  # type: ignore[arg-type]
            yield Record(
                name,
                str(row["label"]),
                str(row["suggested"]),
                float(row["confidence"]) if chance is None else chance,
                {} if show is None else _fields(View.of(show(at)), source / name),
                opinions.get(name, {}),
            )


def _fields(view: View, path: Path) -> dict[str, Any]:
    if view.picture is not None:
        return {"image": str(path)}
    if view.text is not None:
        return {"text": view.text}
    return {str(name): plain(value) for name, value in (view.row or {}).items()}
