"""Decisions → a cleaned data set: the user's own file or folder again, labels mended, dropped samples left out.

Nothing is changed in place. Tables keep their rows' order and all other cells; folders of pictures become folders of
links, or copies.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from uniqueinfo.errors import InputError
from uniqueinfo.review.outcomes import Outcomes
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.page import read_again
from uniqueinfo.runs.readers.tables import LINES, SUFFIXES, Table
from uniqueinfo.store.files import replacing

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Cleaned:
    """What was written, and where."""

    path: Path
    samples: int
    relabelled: int
    dropped: int

    @property
    def sentence(self) -> str:
        """For people."""
        samples = "1 sample" if self.samples == 1 else f"{self.samples:,} samples"
        return f"{samples} to {self.path}: {self.relabelled:,} relabelled, {self.dropped:,} left out."


def clean(run: Run, outcomes: Outcomes, out: Path, *, copy: bool = False) -> Cleaned:
    """Write the training data of a run as it is by what was decided."""
    if not run.asked:
        raise InputError(f"{run.path}: was scored in Python, and does not say where its data lies; apply them there")
    source = Path(run.record["paths"]["train"])
    samples, why_not = read_again(run)
    if samples is None:
        raise InputError(f"{why_not}; decisions are of the data as it was scored")
    if source.is_dir():
        of_the_folder = samples if samples[1].rows is not None else samples[:1]  # named validation data lies elsewhere
        return _folder(source, outcomes, out, [str(name) for data in of_the_folder for name in data.ids], copy=copy)
    if source.suffix not in SUFFIXES:
        raise InputError(
            f"{source}: is no table and no folder of pictures, which are what is written again; export the decisions "
            f"with uniqueinfo decisions {run.path} --export FILE.csv --format cleanlab"
        )
    return _table(source, outcomes, out, Job.from_record(run.record))


def _table(source: Path, outcomes: Outcomes, out: Path, job: Job) -> Cleaned:
    if out.suffix not in SUFFIXES:
        raise InputError(f"--out {out}: expected a file that ends in {', '.join(SUFFIXES)}")
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise InputError(f"--out {out}: expected a file in a folder that is there")
    if out.exists() and out.samefile(source):
        raise InputError(f"--out {out}: is the file that was scored, which is never changed; name another")
    table = Table.read(source, job.reading)
    ids = pd.Series([str(name) for name in table.ids])
    stay = ~ids.isin(outcomes.dropped)
    frame, labels = table.frame.copy(), outcomes.labels
    changed = ids.isin(list(labels))
    frame[table.label] = [
        _like(old, labels[name]) if name in labels else old for name, old in zip(ids, frame[table.label], strict=True)
    ]
    frame = frame[stay.to_numpy()]
    with replacing(out) as beside:
        if table.records is not None and out.suffix in LINES:
            mended = zip(frame.index, frame[table.label], strict=True)
            lines = [{**table.records[at], table.label: label} for at, label in mended]
            beside.write_text(
                "".join(f"{json.dumps(one, ensure_ascii=False, default=_plain)}\n" for one in lines), "utf-8"
            )
        else:
            _write(frame, beside, out.suffix)
    return Cleaned(out, len(frame), int((changed & stay).sum()), int((~stay).sum()))


def _like(old: Any, new: str) -> Any:
    """The name of a class as the file would say it, in the kind of the label that stands there.

    >>> _like("cat", "dog"), _like(3, "4"), _like(3.0, "4"), _like(True, "0"), _like("True", "0")
    ('dog', 4, 4.0, False, 'False')
    """
    if pd.api.types.is_bool(old):
        return bool(int(new))
    if old in ("True", "False") and new in ("0", "1"):
        return str(bool(int(new)))
    if pd.api.types.is_float(old):
        return float(new)
    return int(new) if pd.api.types.is_integer(old) else new


def _write(frame: pd.DataFrame, path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif suffix in LINES:
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        frame.map(unarmed).to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")


def _plain(value: Any) -> Any:
    """A number of numpy as JSON knows it."""
    return value.item()


def unarmed(cell: Any) -> Any:
    """A cell that a spreadsheet would run as a formula, made text; numbers stay.

    >>> unarmed("=1+1"), unarmed("-0.5"), unarmed("@home"), unarmed(-3)
    ("'=1+1", '-0.5', "'@home", -3)
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _folder(source: Path, outcomes: Outcomes, out: Path, ids: list[str], *, copy: bool) -> Cleaned:
    """Class folders of links to the pictures, or of copies; all of it appears at once."""
    place = out.resolve()
    if place == source.resolve() or source.resolve() in place.parents:
        raise InputError(f"--out {out}: lies in the folder that was scored, which is never changed; name another")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"--out {out}: is there already; name a new folder")
    if not place.parent.is_dir():
        raise InputError(f"--out {out}: expected a new folder in one that is there")
    labels, dropped = outcomes.labels, outcomes.dropped
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        kept = [name for name in ids if name not in dropped]
        for name in kept:
            given, _, rest = name.partition("/")
            target = _free(beside / labels.get(name, given) / rest, given)
            target.parent.mkdir(parents=True, exist_ok=True)
            if copy:
                shutil.copy2(source / name, target)
            else:
                target.symlink_to((source / name).resolve())
        if out.is_dir():
            out.rmdir()
        beside.rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return Cleaned(out, len(kept), sum(name in labels for name in kept), len(ids) - len(kept))


def _free(path: Path, given: str) -> Path:
    """Another name where one of another class has it already."""
    tried, number = path, 1
    while tried.is_symlink() or tried.exists():
        more = "" if number == 1 else f" {number}"
        tried, number = path.with_name(f"{path.stem} (from {given}{more}){path.suffix}"), number + 1
    return tried
