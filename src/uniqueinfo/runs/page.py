"""The page of a run: scores, and the samples they are of as far as their files are still there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from uniqueinfo.errors import InputError
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.readers import Data
from uniqueinfo.scores.table import Scores

if TYPE_CHECKING:
    from uniqueinfo.report import SampleViews


def write_page(run: Run, scores: Scores, samples: tuple[Data, Data] | None) -> Path:
    """Write report.html into the run folder; `samples` are the training and validation data, to show some of them."""
    from uniqueinfo.report import write_report

    views = None if samples is None else sample_views(*samples)
    return write_report(scores, run.report, samples=views, answers=run.answers())


def sample_views(train: Data, val: Data) -> SampleViews:
    """How to show the samples of a run; those of validation say what they are."""
    from uniqueinfo.report import SampleViews, View

    def validation(index: int) -> View:
        name, label = str(val.ids[index]), None if val.labels is None else str(val.labels[index])
        said = [part for part in (None if name == str(index) else name, label) if part is not None]
        return replace(View.of(val.show(index)), caption=", ".join(said) or None)

    return SampleViews(train=train.show, validation=validation)


def read_again(run: Run) -> tuple[tuple[Data, Data] | None, str]:
    """The training and validation samples of a run, or None and why not."""
    try:
        train, val, _ = Job.from_record(run.record).read()
    except InputError as error:
        return None, str(error)
    if {"train": train.fingerprint(), "val": val.fingerprint()}.items() <= run.record["data"].items():
        return (train, val), ""
    return None, f"{run.record['paths']['train']} or its validation data has changed since the run"
