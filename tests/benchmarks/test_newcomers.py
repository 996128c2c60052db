"""The stories of newcomers, in a small form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.newcomers.__main__ import STORIES, table_of, tell
from benchmarks.newcomers.story import Setting, Shell, Skipped, Story, Told, flips
from tests import realdata
from tests.cli.calling import Caller


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the libraries that a newcomer uses
@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_newcomer_gets_a_right_answer(
    story: Story, tmp_path: Path, uniqueinfo: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNIQUEINFO_DATA", str(realdata.FOLDER))
    told = list(tell(story, Setting(realdata.FOLDER, tmp_path, small=True, call=uniqueinfo)))
    skipped = [one.why for one in told if isinstance(one, Skipped)]
    if skipped:
        pytest.skip(skipped[0])
    assert told
    assert [one.missed for one in told if isinstance(one, Told) and one.missed] == []


def test_a_story_without_its_data_is_skipped_with_the_reason(tmp_path: Path) -> None:
    story = next(story for story in STORIES if story.name == "reviews")
    (told,) = tell(story, Setting(None, tmp_path))
    assert isinstance(told, Skipped)
    assert "name it with --data" in told.why


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    story = Story("broken", lambda setting: iter([Told(Shell(setting)("score", setting.work / "gone"), 1, 0.0)]))
    (told,) = tell(story, Setting(None, tmp_path))
    assert isinstance(told, Told)
    assert "gone" in told.missed[0]


def test_flips_are_of_another_class_and_nothing_else_changes() -> None:
    labels = np.arange(50) % 3
    turned, wrong = flips(labels, 7)
    np.testing.assert_array_equal(np.flatnonzero(turned != labels), wrong)
    assert len(wrong) == 7


def test_a_missed_target_is_said_in_the_table() -> None:
    table = table_of([Told("story", 2, 1.0, 5, 3, 0, missed=("too few",)), Skipped("other", "no data")])
    assert list(table.columns[1].cells) == ["NO: too few", "skipped"]
