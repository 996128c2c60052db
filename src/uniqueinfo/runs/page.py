"""The page of a run: scores, and the samples they are of as far as their files are still there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.report import SampleViews, Summary, View, summarize
from uniqueinfo.report.html import render
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.readers import Data
from uniqueinfo.scores.table import Scores
from uniqueinfo.store.files import replacing


@dataclass(frozen=True, eq=False)
class Page:
    """A page that was written, and the summary it was made of: what a command prints of it is not worked out again."""

    path: Path
    summary: Summary


def write_page(run: Run, scores: Scores, samples: tuple[Data, Data] | None) -> Page:
    """Write report.html into the run folder; `samples` are the training and validation data, to show some of them."""
    summary = summarize(scores, None if samples is None else sample_views(*samples), run.answers())
    try:
        with replacing(run.report) as beside:
            beside.write_text(render(summary), encoding="utf-8")
    except OSError as failed:
        raise InputError(f"{run.report}: cannot be written ({failed.strerror}); free its place") from failed
    return Page(run.report, summary)


def sample_views(train: Data, val: Data) -> SampleViews:
    """How to show the samples of a run; those of validation have their label below.

    Samples that were held out count on after those that were trained on.
    """

    def validation(index: int) -> View:
        return replace(View.of(val.show(index)), caption=None if val.labels is None else str(val.labels[index]))

    def either(index: int) -> object:
        return train.show(index) if index < len(train) else val.show(index - len(train))

    return SampleViews(train=either, validation=validation)


def read_again(run: Run) -> tuple[tuple[Data, Data] | None, str]:
    """The training and validation samples of a run, or None and why not."""
    if not run.asked:
        return None, "these scores were computed in Python, and their folder does not say where the samples are"
    record = run.record
    try:
        train, val, _ = Job.from_record(record).read()
    except InputError as error:
        return None, str(error)
    if {"train": train.fingerprint(), "val": val.fingerprint()}.items() <= record["data"].items():
        return (train, val), ""
    return None, f"{record['paths']['train']} or its validation data has changed since the run"
