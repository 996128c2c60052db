"""Files are written beside and renamed: under names nobody can guess, through no link, with the usual permissions."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.store.files import held, replacing
from uniqueinfo.store.folder import OwnedFolder


def test_no_two_files_are_begun_under_the_same_name(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as first, replacing(tmp_path / "a") as second:
        assert first != second
        assert all(len(path.name.split(".")[-2]) == 16 for path in (first, second))  # 64 bits that nobody knows


def test_a_link_in_the_way_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)  # an attacker who guessed it after all
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".run.json.{'0' * 16}.part").symlink_to(victim)
    with pytest.raises(FileExistsError), replacing(tmp_path / "run.json") as beside:
        beside.write_text("{}")
    assert victim.read_text() == "precious"


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with replacing(tmp_path / "ours") as beside:
        beside.write_text("")
    plain, ours = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "ours"))
    assert plain == ours


def test_a_folder_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = OwnedFolder.open(tmp_path / "run", "sums", {})
    (folder.path / "answers").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"answers: is a link to .*elsewhere, and nothing is written through it"):
        folder.write_bytes("answers/one.json", b"{}")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_link_is_removed_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = OwnedFolder.open(tmp_path / "run", "sums", {})
    (folder.path / "work").symlink_to(tmp_path / "elsewhere")
    folder.remove("work")
    assert not (folder.path / "work").exists()
    assert (tmp_path / "elsewhere").is_dir()


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    folder = OwnedFolder.open(tmp_path, "sums", {})
    with held(tmp_path), replacing(tmp_path / "sums.json") as beside:
        beside.write_text("{}")
        folder.tidy()
        assert beside.exists()


def test_a_first_write_that_was_killed_blocks_nothing(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".run.json.0123456789abcdef.part").write_text('{"form')
    OwnedFolder.open(tmp_path / "run", "run", {}, record="run.json")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.json"]


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a device"), replacing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()
