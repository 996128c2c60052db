"""Rows that are needed twice: kept on disk in between, or computed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import keeping
from uniqueinfo.jacobian.keeping import KeepingPlan

SIZE = 10**9
FAST, SLOW = 1e-9, 1e-6  # seconds to write and read a byte: a second for all, or a quarter of an hour


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A disk whose speed and room the test says; fast and roomy until it does."""
    monkeypatch.setattr(keeping, "_seconds_per_byte", lambda _: FAST)
    with_room(monkeypatch, 10 * SIZE)
    return monkeypatch


def with_room(disk: pytest.MonkeyPatch, free: int) -> None:
    disk.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free}))


def test_rows_that_take_long_to_compute_are_kept(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert KeepingPlan.of(SIZE, 60.0, tmp_path, keep=None).keep


def test_rows_that_are_quick_to_compute_are_not_kept(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not KeepingPlan.of(SIZE, 0.5, tmp_path, keep=None).keep


def test_a_slow_disk_is_left_alone(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disk.setattr(keeping, "_seconds_per_byte", lambda _: SLOW)
    assert not KeepingPlan.of(SIZE, 60.0, tmp_path, keep=None).keep


def test_more_than_half_of_the_room_is_never_taken_unasked(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_room(disk, SIZE + SIZE // 2)
    assert not KeepingPlan.of(SIZE, 60.0, tmp_path, keep=None).keep


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("computing", [0.5, 60.0])
def test_what_is_asked_for_is_done(disk: pytest.MonkeyPatch, tmp_path: Path, keep: bool, computing: float) -> None:
    assert KeepingPlan.of(SIZE, computing, tmp_path, keep).keep is keep


def test_too_little_room_for_what_is_asked_is_said(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_room(disk, 1000)
    with pytest.raises(InputError, match=r"the Jacobian rows take 1 GB and .* has 1 kB free"):
        KeepingPlan.of(SIZE, 60.0, tmp_path, keep=True)


def test_a_folder_that_is_still_to_be_made_lies_on_the_disk_of_the_one_above(tmp_path: Path) -> None:
    assert KeepingPlan.of(1, 60.0, tmp_path / "deep" / "down", keep=None).free > 0
    assert list(tmp_path.iterdir()) == []


def test_the_lines_tell_both_ways_and_which_is_chosen(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert KeepingPlan.of(SIZE, 60.0, tmp_path, keep=None).lines() == [
        "Jacobian rows, chosen: keep: 1 GB on disk (10 GB free), 1 s to write and read, and 60 s to compute once",
        "Jacobian rows, or: compute twice: nothing on disk, 120 s",
    ]
