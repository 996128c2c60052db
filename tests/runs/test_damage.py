"""One bit that turns over in any file of a run: noticed, or without effect; never another score."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import uniqueinfo as ui
from tests.runs.readers import files
from uniqueinfo.errors import UniqueInfoError
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.runs.readers import Reading

FLIPS = 8  # of every file


@pytest.fixture(name="whole", scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the command line with samples held out, and two answers."""
    folder = tmp_path_factory.mktemp("damage")
    table = files.csv(folder / "table.csv", files.table())
    prepared = prepare(Job(table, ModelChoice("linear"), reading=Reading(label="kind"), training=ui.Converged(1e-2)))
    run = Run.open(folder / "run", prepared.record())
    scores = prepared.score(run)
    run.keep(ui.mislabeled(scores))
    run.keep(ui.summarize(scores, keep=0.5))
    return run.path


def flipped(whole: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Copies of the run, each with one bit turned over in one file: the run, and the file."""
    rng = np.random.default_rng(0)
    for number, path in enumerate(sorted(path for path in whole.rglob("*") if path.is_file())):
        for at in rng.integers(0, 8 * path.stat().st_size, FLIPS):
            run = folder / f"{number}-{at}"
            shutil.copytree(whole, run)
            damaged = run / path.relative_to(whole)
            content = bytearray(damaged.read_bytes())
            content[at // 8] ^= 1 << (at % 8)
            damaged.write_bytes(bytes(content))
            yield run, damaged


def seen(run: Path) -> tuple[bytes, bytes, list[str]]:
    """All that is read of a run: its scores, those held out, and the answers."""
    scores = ui.load(run)
    assert scores.held_out is not None
    answers = [str(answer) for answer in Run.find(run).answers()]
    return scores.content(), scores.held_out.content(), answers


def test_no_bit_turns_over_unnoticed(whole: Path, tmp_path: Path) -> None:
    wanted, unnoticed = seen(whole), []
    for run, damaged in flipped(whole, tmp_path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = seen(run)
        except (UniqueInfoError, UserWarning):
            continue
        if found != wanted:
            unnoticed.append(damaged.relative_to(tmp_path))
    assert unnoticed == []


def test_a_damaged_answer_is_set_aside_and_the_report_goes_on(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    answer = tmp_path / "run" / "answers" / "mislabeled.json"
    answer.write_bytes(answer.read_bytes()[:-40])
    with pytest.warns(UserWarning, match=r"mislabeled\.json: is damaged, and set aside as mislabeled\.damaged; ask"):
        page = ui.report(ui.load(tmp_path / "run")).read_text(encoding="utf-8")
    assert 'id="answer-summarize"' in page
    assert 'id="answer-mislabeled"' not in page
    assert answer.with_suffix(".damaged").is_file()


def test_one_changed_digit_of_an_answer_is_noticed(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    answer = tmp_path / "run" / "answers" / "summarize.json"
    answer.write_text(answer.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"summarize\.json: is damaged"):
        assert len(Run.find(tmp_path / "run").answers()) == 1
