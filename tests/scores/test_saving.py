"""Saved scores come back as they were, and a save that is stopped halfway harms nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.information.effects import Effects
from uniqueinfo.scores.folder import load_table
from uniqueinfo.scores.table import HeldScores


def test_scores_come_back_as_they_were(tmp_path: Path, scores: HeldScores) -> None:
    found = load_table(scores.save(tmp_path))
    for name in ("weight", "functional", "loo_outputs", "outputs", "targets", "labels", "ids"):
        np.testing.assert_array_equal(getattr(found, name), getattr(scores, name))
    pd.testing.assert_frame_equal(found.frame(), scores.frame())


@pytest.mark.parametrize("ids", [None, [["a.jpg", "b.jpg"]] * 3, [[569, 12]] * 3])
def test_effects_come_back_with_the_ids_of_what_feels_them(
    tmp_path: Path, scores: HeldScores, ids: list[list[Any]] | None
) -> None:
    pair = np.array([[4, 1]] * 3)
    felt = Effects(pair, pair, pair / 7, None if ids is None else np.array(ids))
    found = load_table(scores.replaced(effects=felt).save(tmp_path)).effects
    assert found is not None
    np.testing.assert_array_equal(found.change, felt.change)
    assert (None if found.ids is None else found.ids.tolist()) == ids


def test_what_was_never_measured_is_not_there_afterwards(tmp_path: Path, scores: HeldScores) -> None:
    found = load_table(scores.save(tmp_path))
    assert (found.value, found.smoothed, found.effects, found.errors) == (None, None, None, None)


def test_the_settings_come_back(tmp_path: Path, scores: HeldScores) -> None:
    assert load_table(scores.save(tmp_path)).settings == scores.settings


def test_a_later_save_takes_the_place_of_an_earlier_one(tmp_path: Path, scores: HeldScores) -> None:
    scores.save(tmp_path)
    scores.replaced(weight=np.array([7.0, 8.0, 9.0])).save(tmp_path)
    np.testing.assert_array_equal(load_table(tmp_path).weight, [7.0, 8.0, 9.0])
    assert len(list((tmp_path / "scores.parquet").iterdir())) == 1


def test_saving_the_same_again_changes_nothing(tmp_path: Path, scores: HeldScores) -> None:
    scores.save(tmp_path)
    scores.save(tmp_path)
    np.testing.assert_array_equal(load_table(tmp_path).weight, scores.weight)


class Killed(BaseException):
    """In place of a signal."""


@pytest.mark.parametrize("moment", ["before the table", "before the record", "before the old table goes"])
def test_stopped_at_any_moment_one_of_the_two_is_whole(
    tmp_path: Path, scores: HeldScores, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    scores.save(tmp_path)
    later = scores.replaced(weight=np.array([7.0, 8.0, 9.0]), settings={"training": "later"})
    stop_at(moment, monkeypatch)
    with pytest.raises(Killed):
        later.save(tmp_path)
    monkeypatch.undo()
    found, wanted = load_table(tmp_path), later if moment == "before the old table goes" else scores
    np.testing.assert_array_equal(found.weight, wanted.weight)
    assert found.settings == wanted.settings


def stop_at(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, unlink = Path.replace, Path.unlink

    def replaced(self: Path, target: Any) -> Path:
        wanted = {"before the table": ".parquet", "before the record": ".json"}.get(moment)
        if Path(target).suffix == wanted:
            raise Killed
        return replace(self, target)

    def unlinked(self: Path, missing_ok: bool = False) -> None:
        if moment == "before the old table goes" and self.suffix == ".parquet":
            raise Killed
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr(Path, "unlink", unlinked)


def test_a_folder_of_other_things_is_refused_and_left_alone(tmp_path: Path, scores: HeldScores) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"holds thesis\.tex and no"):
        scores.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
