"""The run folder knows what it is of."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.runs.folder import Run
from uniqueinfo.scores.table import HeldScores

RECORD = {
    "settings": {"model": {"name": "linear"}, "seed": 0},
    "data": {"train": "abc"},
    "paths": {"train": "/a.csv", "val": None},
}


def finished(path: Path) -> Run:
    """A run of two samples, done."""
    ones, content = np.ones((2, 1)), io.BytesIO()
    HeldScores(weight=np.ones(2), loo_outputs=ones, outputs=ones, targets=ones).write(content)
    run = Run.open(path, RECORD)
    run.folder.keep_part(0, content.getvalue())
    run.folder.finish({"training": "any"}, parts=1)
    run.told(notes=("a note",), timings={"scoring": 1.5}, copies={"leaks": 0})
    return run


def test_a_run_is_known_from_its_start(tmp_path: Path) -> None:
    assert not Run.open(tmp_path / "run", RECORD).finished
    assert Run.find(tmp_path / "run").record == RECORD


def test_a_finished_run_tells_what_was_asked_and_how_long_it_took(tmp_path: Path) -> None:
    finished(tmp_path)
    run = Run.open(tmp_path, RECORD)
    assert run.finished
    told = {"notes": ["a note"], "timings": {"scoring": 1.5}, "copies": {"leaks": 0}}
    assert run.scores().settings["run"] == {**RECORD, **told}


def test_a_damaged_table_is_noticed(tmp_path: Path) -> None:
    run = finished(tmp_path)
    (part,) = (tmp_path / "scores.parquet").iterdir()
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1  # one bit
    part.write_bytes(content)
    with pytest.raises(InputError, match=r"part-000000\.parquet: is missing or damaged"):
        run.scores()


def test_a_run_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"run": RECORD}))
    with pytest.raises(InputError, match=r"was made by uniqueinfo 0\.1, which this one does not read"):
        Run.find(tmp_path)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"settings": {"model": {"name": "mlp:8"}, "seed": 0}}, "settings.model.name"),
        ({"data": {"train": "xyz"}}, "data.train"),
    ],
)
def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path, changed: dict[str, object], named: str) -> None:
    Run.open(tmp_path, RECORD)
    with pytest.raises(InputError, match=named):
        Run.open(tmp_path, RECORD | changed)


def test_data_that_has_moved_is_the_same_data(tmp_path: Path) -> None:
    Run.open(tmp_path, RECORD)
    assert Run.open(tmp_path, RECORD | {"paths": {"train": "/b.csv", "val": None}}).record == RECORD


def test_a_run_that_is_not_finished_has_no_scores(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not finished"):
        Run.open(tmp_path, RECORD).scores()


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        Run.find(tmp_path)
