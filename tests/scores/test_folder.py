"""The folder of a run: scores only where all of them are there and whole."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.scores.folder import RunFolder, load_table
from uniqueinfo.scores.table import HeldScores

IDENTITY = {"training": {"lr": 0.1}}


def as_parquet(scores: HeldScores) -> bytes:
    written = io.BytesIO()
    scores.write(written)
    return written.getvalue()


@pytest.fixture
def run(tmp_path: Path, scores: HeldScores) -> RunFolder:
    """Finished, of two parts."""
    run = RunFolder.open(tmp_path / "run", IDENTITY)
    for number in range(2):
        run.keep_part(number, as_parquet(scores))
    run.finish({"training": "known"}, parts=2)
    return run


def test_the_parts_are_one_table_in_their_order(run: RunFolder, scores: HeldScores) -> None:
    found = run.scores()
    assert len(found) == 6
    np.testing.assert_array_equal(found.weight, [*scores.weight, *scores.weight])


def test_the_settings_are_there_at_the_end(run: RunFolder) -> None:
    assert run.scores().settings == {"training": "known"}


def test_a_run_is_loaded_as_saved_scores_are(run: RunFolder) -> None:
    assert len(load_table(run.path)) == 6


def test_a_run_that_is_not_finished_has_no_scores(tmp_path: Path, scores: HeldScores) -> None:
    run = RunFolder.open(tmp_path, IDENTITY)
    run.keep_part(0, as_parquet(scores))
    assert not run.finished
    with pytest.raises(InputError, match="this run is not finished"):
        load_table(tmp_path)


def test_parts_that_are_there_are_known(tmp_path: Path, scores: HeldScores) -> None:
    RunFolder.open(tmp_path, IDENTITY).keep_part(1, as_parquet(scores))
    again = RunFolder.open(tmp_path, IDENTITY)
    assert (again.has_part(0), again.has_part(1)) == (False, True)


def test_a_part_with_one_bit_flipped_is_noticed(run: RunFolder) -> None:
    part = run.path / "scores.parquet" / "part-000001.parquet"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with pytest.raises(InputError, match=r"part-000001\.parquet: is missing or damaged"):
        load_table(run.path)


def test_a_missing_part_is_noticed(run: RunFolder) -> None:
    (run.path / "scores.parquet" / "part-000000.parquet").unlink()
    with pytest.raises(InputError, match=r"part-000000\.parquet: is missing or damaged"):
        load_table(run.path)


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there are no scores here \(run\.json is missing\)"):
        load_table(tmp_path)


def test_a_run_of_version_0_1_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"settings": {}}))
    with pytest.raises(InputError, match=r"was made by uniqueinfo 0\.1"):
        load_table(tmp_path)


def test_other_settings_in_the_same_folder_are_refused(run: RunFolder) -> None:
    with pytest.raises(InputError, match=r"training\.lr = 0\.1, not 0\.2"):
        RunFolder.open(run.path, {"training": {"lr": 0.2}})


def test_a_run_that_came_to_nothing_leaves_its_folder_free(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path, IDENTITY)
    run.work.mkdir()
    with suppress(InputError), run.attempted():
        raise InputError("refused")
    RunFolder.open(tmp_path, {"training": {"lr": 0.2}})


def test_a_run_with_parts_is_not_given_up(tmp_path: Path, scores: HeldScores) -> None:
    run = RunFolder.open(tmp_path, IDENTITY)
    run.keep_part(0, as_parquet(scores))
    with suppress(InputError), run.attempted():
        raise InputError("refused")
    assert RunFolder.find(tmp_path).has_part(0)
