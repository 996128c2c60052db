"""A folder that belongs to one piece of work: refused to others, and never a source of wrong numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.store.folder import OwnedFolder

IDENTITY = {"training": {"name": "descent", "lr": 0.1}, "samples": 3}


def arrays() -> dict[str, NDArray[Any]]:
    return {"rows": np.arange(6, dtype=np.float32).reshape(2, 3), "labels": np.array([4, 5])}


def opened(path: Path, identity: dict[str, Any] | None = None, kind: str = "sums") -> OwnedFolder:
    return OwnedFolder.open(path, kind, IDENTITY if identity is None else identity)


def same(found: dict[str, NDArray[Any]] | None) -> bool:
    return found is not None and {name: (each.dtype, each.tolist()) for name, each in found.items()} == {
        name: (each.dtype, each.tolist()) for name, each in arrays().items()
    }


# Whose it is


def test_the_folder_is_made(tmp_path: Path) -> None:
    opened(tmp_path / "deep" / "down")
    assert (tmp_path / "deep" / "down" / "owner.json").exists()


def test_the_same_work_comes_back_to_it(tmp_path: Path) -> None:
    opened(tmp_path).write_arrays("one", arrays())
    assert same(opened(tmp_path).read_arrays("one"))


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.json"])
def test_a_folder_of_other_things_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"version": 3}')
    with pytest.raises(InputError, match=f"holds {name} and no sums; name a new or empty folder"):
        opened(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("identity", "told"),
    [
        ({"training": {"name": "descent", "lr": 0.2}, "samples": 3}, r"training\.lr = 0\.1, not 0\.2"),
        ({"training": {"name": "flow", "lr": 0.1}, "samples": 3}, r'training\.name = "descent", not "flow"'),
        ({"training": {"name": "descent", "lr": 0.1}, "samples": 4}, "samples = 3, not 4"),
        ({"training": None, "samples": 3}, r'training = \{"lr": 0\.1, "name": "descent"\}, not null'),
        ({"training": {"name": "descent", "lr": 0.1}}, "samples = 3, not null"),
    ],
)
def test_other_settings_are_named_as_people_write_them(tmp_path: Path, identity: dict[str, Any], told: str) -> None:
    opened(tmp_path)
    with pytest.raises(InputError, match=f"holds sums made with {told}; name another folder"):
        opened(tmp_path, identity)


def test_settings_are_compared_as_they_are_written(tmp_path: Path) -> None:
    opened(tmp_path, {"shape": (1, 2)})
    opened(tmp_path, {"shape": [1, 2]})


def test_another_kind_of_work_is_refused(tmp_path: Path) -> None:
    opened(tmp_path)
    with pytest.raises(InputError, match="holds sums, not kernels"):
        opened(tmp_path, kind="kernels")


def test_a_folder_of_version_0_1_is_refused(tmp_path: Path) -> None:
    (tmp_path / "owner.json").write_text(json.dumps({"kind": "sums", "identity": IDENTITY}))
    with pytest.raises(InputError, match=r"was made by uniqueinfo 0\.1, which this one does not read"):
        opened(tmp_path)


def test_a_folder_of_a_version_to_come_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).note({"format": "uniqueinfo-9"})
    with pytest.raises(InputError, match=r"was made by another version \(uniqueinfo-9\)"):
        opened(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[1, 2]", "\x00\x01"])
def test_a_damaged_record_is_said(tmp_path: Path, content: str) -> None:
    (tmp_path / "owner.json").write_text(content)
    with pytest.raises(InputError, match=r"owner\.json: is damaged"):
        opened(tmp_path)


def test_a_folder_is_found_by_its_kind(tmp_path: Path) -> None:
    opened(tmp_path)
    assert OwnedFolder.find(tmp_path, "sums").path == tmp_path


def test_a_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no folder of sums \(owner\.json is missing\)"):
        OwnedFolder.find(tmp_path, "sums")


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        opened(tmp_path / "file" / "below")


def test_what_is_noted_stays_beside_the_identity(tmp_path: Path) -> None:
    opened(tmp_path).note({"cut": 8})
    owner = opened(tmp_path).owner()
    assert owner is not None
    assert (owner["cut"], owner["identity"]) == (8, IDENTITY)


# What was left behind


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / "inner").mkdir()
    torn = [tmp_path / ".one.safetensors.123.part", tmp_path / "inner" / ".two.json.4.part"]
    for path in torn:
        path.write_text("torn")
    opened(tmp_path)
    assert not any(path.exists() for path in torn)


def test_a_folder_with_nothing_but_a_torn_file_is_as_good_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".owner.json.123.part").write_text("torn")
    opened(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["owner.json"]


def test_hidden_files_of_others_stay(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / ".gitignore").write_text("*")
    opened(tmp_path)
    assert (tmp_path / ".gitignore").exists()


# Arrays


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.write_arrays("one", arrays(), of="these samples")
    assert same(folder.read_arrays("one", of="these samples"))


def test_empty_arrays_come_back(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.write_arrays("one", {"none": np.empty((0, 3))})
    found = folder.read_arrays("one")
    assert found is not None
    assert found["none"].shape == (0, 3)


def test_one_array_is_read_without_the_rest(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.write_arrays("one", arrays())
    assert list(folder.read_arrays("one", only="labels") or {}) == ["labels"]


def test_arrays_of_something_else_are_as_good_as_absent(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.write_arrays("one", arrays(), of="these samples")
    assert folder.read_arrays("one", of="others") is None


def test_arrays_that_were_never_written_are_absent(tmp_path: Path) -> None:
    assert opened(tmp_path).read_arrays("one") is None


@pytest.mark.parametrize("left", [0, 5, 50, -1])
def test_arrays_cut_short_are_as_good_as_absent(tmp_path: Path, left: int) -> None:
    folder = opened(tmp_path)
    folder.write_arrays("one", arrays())
    path = tmp_path / "one.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    assert folder.read_arrays("one") is None


def test_no_flipped_bit_changes_what_is_read(tmp_path: Path) -> None:
    """Wherever in the file it is: arrays come whole, or not at all (a blank that fills the header up may change)."""
    folder = opened(tmp_path)
    folder.write_arrays("one", arrays(), of="these samples")
    path = tmp_path / "one.safetensors"
    whole = path.read_bytes()
    unseen = []
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 1 << place % 8
        path.write_bytes(broken)
        found = folder.read_arrays("one", of="these samples")
        if found is not None and not same(found):
            unseen.append(place)
    assert unseen == []


@pytest.mark.parametrize("name", ["rows", "labels"])
def test_a_flipped_bit_in_an_array_is_noticed(tmp_path: Path, name: str) -> None:
    folder = opened(tmp_path)
    folder.write_arrays("one", arrays())
    path = tmp_path / "one.safetensors"
    content = bytearray(path.read_bytes())
    content[content.index(arrays()[name].tobytes())] ^= 1
    path.write_bytes(content)
    assert folder.read_arrays("one") is None


def test_the_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    many = {f"array {number}": np.arange(number) for number in range(9)}
    written = []
    for number in range(5):
        opened(tmp_path / str(number)).write_arrays("one", many)
        written.append((tmp_path / str(number) / "one.safetensors").read_bytes())
    assert len(set(written)) == 1


def test_removing_by_a_pattern_leaves_the_rest(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    for name in ("rows-1", "rows-2", "sums"):
        folder.write_arrays(name, arrays())
    (tmp_path / "rows-more").mkdir()
    folder.remove("rows-*")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["owner.json", "sums.safetensors"]


# One at a time


HOLDING = """
import sys
from pathlib import Path
from uniqueinfo.store.folder import OwnedFolder

with OwnedFolder(Path(sys.argv[1]), "sums").held():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_second_process_is_refused_while_the_first_is_at_work(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    program = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another process is at work in this folder"), folder.held():
            pass
        first.kill()
    with folder.held():  # the lock went with the process
        pass
