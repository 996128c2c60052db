"""The page of scores: of a run of the command line with its samples, as far as their files are still there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from uniqueinfo.applications.answer import Answer
from uniqueinfo.applications.copies import known_copies
from uniqueinfo.errors import InputError, cause
from uniqueinfo.pages import SampleViews, Summary, View, summarize, write
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.readers import Data
from uniqueinfo.samples.border import PATH, SEVERAL, Kind, takes
from uniqueinfo.scores.stored import StoredScores
from uniqueinfo.scores.table import SCORES, Scores

_PAGE = Path("report.html")
_ANSWER = Kind("what questions such as ui.mislabeled give", (Answer,))
_ANSWERS = replace(SEVERAL, words="a list of what questions such as ui.mislabeled give")
Looks = Any
"""What samples look like, by position: pictures, texts or rows, in a sequence or from a function."""


@dataclass(frozen=True, eq=False)
class Page:
    """A page that was written, and the summary it was made of: what a command prints of it is not worked out again."""

    path: Path
    summary: Summary


@takes(scores=SCORES, path=PATH)
def report(
    scores: Scores,
    path: str | Path | None = None,
    *,
    samples: Looks = None,
    validation: Looks = None,
    answers: Iterable[Answer] = (),
) -> Path:
    """Write the page that ``uniqueinfo report`` writes, and give back where it is.

    `scores`: as `ui.score` or `ui.load` gives them.
    `path`: the file; when not given, report.html in the folder of the scores, or here where they are in memory.
    `samples`, `validation`: what the training and the validation samples look like, in their order: a list of pictures
    (PIL, or arrays of uint8), of texts, or of mappings of column to value; a DataFrame; or a function of the position.
    `answers`: what questions gave, such as ``ui.mislabeled(scores)``: each becomes a section, beside those that lie in
    the folder of the scores.

    >>> import tempfile
    >>> from uniqueinfo.scoring.arrays import score_features
    >>> scores = score_features([[0.0], [1.0], [1.0]], ["no", "yes", "yes"])
    >>> report(scores, Path(tempfile.mkdtemp()) / "page.html", samples=["cold", "hot", "warm"]).name
    'page.html'
    """
    run = run_of(scores)
    place = Path(path) if path is not None else _PAGE if run is None else run.report
    if place.is_dir():
        raise InputError(f"path: {place} is a folder; name the file, such as {place / _PAGE}")
    if not isinstance(answers, Iterator):
        _ANSWERS.check("answers", answers)
    given = list(answers)
    for one in given:
        _ANSWER.check("answers", one)
    sections = {} if run is None else {section["name"]: section for section in run.answers()}
    sections |= {answer.name: answer.section() for answer in given}
    shown = views_of(samples, validation, len(scores))
    if shown is None and run is not None and (found := read_again(run)[0]) is not None:
        shown = sample_views(*found)
    return write(summarize(scores, shown, list(sections.values()), known_copies(scores)), place)


def write_page(run: Run, scores: Scores, samples: tuple[Data, Data] | None) -> Page:
    """Write report.html into the run folder; `samples` are the training and validation data, to show some of them."""
    summary = summarize(scores, None if samples is None else sample_views(*samples), run.answers())
    return Page(write(summary, run.report), summary)


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


def run_of(scores: Scores) -> Run | None:
    """The run whose folder holds the scores; None where they are in memory."""
    return Run.find(scores.folder) if isinstance(scores, StoredScores) else None


_LOOKS = replace(SEVERAL, words="a list with a picture, text or row for each sample, or a function of the position")


def views_of(samples: Looks, validation: Looks, count: int) -> SampleViews | None:
    """How to show samples, from what a user has; None where nothing is given."""
    if samples is None and validation is None:
        return None
    train = _look("samples", samples, count)
    return SampleViews(train or (lambda _: View()), _look("validation", validation, None))


def _asked(name: str, function: Callable[[int], Any], index: int) -> Any:
    """What the user's function says of a sample."""
    try:
        return function(index)
    except Exception as error:
        raise InputError(
            f"{name}: your function failed for sample {index} ({cause(error)}); it must take a position"
        ) from error


def _look(name: str, given: Looks, count: int | None) -> Callable[[int], Any] | None:
    """A function of the position, from what the user has."""
    if given is None:
        return None
    if callable(given):
        return partial(_asked, name, given)
    if hasattr(given, "iloc"):  # a DataFrame, or one column
        given = given.to_dict("records") if hasattr(given, "columns") else given.to_list()
    _LOOKS.check(name, given)
    if count is not None and len(given) != count:
        raise InputError(f"{name}: there are {count} samples, and {len(given)} to show; hand over one for each")
    shown: Callable[[int], Any] = given.__getitem__
    return shown
