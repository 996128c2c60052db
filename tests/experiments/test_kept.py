"""The work folder: found again, computed again when damaged, shared by experiments."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.kept import kept, kept_arrays, place
from uniqueinfo.types import Floats


def array() -> Floats:
    return np.array([1.0, 2.0])


def never() -> NoReturn:
    raise AssertionError("computed again")


def only(work: Path) -> Path:
    (file,) = work.glob("*.safetensors")
    return file


def test_what_is_there_is_found_again_and_other_settings_are_others(tmp_path: Path) -> None:
    kept(tmp_path, "name", b"one", array)
    np.testing.assert_array_equal(kept(tmp_path, "name", b"one", never), array())
    np.testing.assert_array_equal(kept(tmp_path, "name", b"two", lambda: 2 * array()), 2 * array())
    np.testing.assert_array_equal(kept(tmp_path, "name", b"one", never), array())


@pytest.mark.parametrize("damage", [lambda whole: whole[:20], lambda whole: whole[:-1] + b"\x07", lambda whole: b""])
def test_what_is_damaged_is_computed_again(tmp_path: Path, damage: object) -> None:
    kept(tmp_path, "name", b"one", array)
    file = only(tmp_path)
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    np.testing.assert_array_equal(kept(tmp_path, "name", b"one", array), array())
    np.testing.assert_array_equal(kept(tmp_path, "name", b"one", never), array())


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fails() -> Floats:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path, "name", b"one", fails)
    assert [path.name for path in tmp_path.iterdir()] == ["owner.json"]


def test_folders_of_experiments_lie_beside_what_is_kept(tmp_path: Path) -> None:
    rows = place(tmp_path, "rows")
    assert rows is not None
    rows.mkdir()
    found = kept_arrays(tmp_path, "name", b"", lambda: {"a": array(), "seconds": np.array(3.0)})
    again = kept_arrays(tmp_path, "name", b"", never)
    assert found["seconds"].item() == again["seconds"].item() == 3.0
    assert place(None, "rows") is None


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds letter\.txt and no experiment work"):
        kept(tmp_path, "name", b"", array)
