import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.shards import Plan, ShardStore

PLAN = Plan(samples=11, outputs=2, width=3, shard=4, batch=2)
ROWS = np.random.default_rng(0).normal(size=PLAN.shape).astype(np.float32)
OUTPUTS = np.random.default_rng(1).normal(size=PLAN.shape[:2])
SETTINGS = {"seed": 0, "shape": (1, 2)}


def filled(folder: Path, settings: dict[str, Any] = SETTINGS) -> ShardStore:
    store = ShardStore(folder, settings)
    store.begin(PLAN)
    for number, shard in enumerate(PLAN.shards()):
        part = slice(shard.start, shard.stop)
        store.write(number, ROWS[part], OUTPUTS[part], data=f"data {number}", limit=2)
    return store


def test_shards_and_batches_cover_the_samples_once() -> None:
    assert PLAN.shards() == [range(4), range(4, 8), range(8, 11)]
    assert PLAN.batches(range(8, 11)) == [range(8, 10), range(10, 11)]


@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(3, 9),
        slice(-3, None),
        slice(10, 2, -3),
        slice(5, 5),
        slice(8, 99),
        [7, 0, 10, 7],
        np.array([2, -1]),
        np.arange(11) % 2 == 0,
        np.array([], dtype=int),
        6,
        np.int64(-2),
    ],
)
def test_rows_are_indexed_across_shards_as_an_array_is(tmp_path: Path, index: Any) -> None:
    np.testing.assert_array_equal(filled(tmp_path).rows()[index], ROWS[index])


def test_rows_have_the_shape_and_type_of_an_array(tmp_path: Path) -> None:
    rows = filled(tmp_path).rows()
    assert (rows.shape, rows.dtype, len(rows)) == (ROWS.shape, ROWS.dtype, 11)


def test_an_index_past_the_end_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IndexError):
        filled(tmp_path).rows()[[11]]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_what_is_read_is_a_copy_and_holds_no_file(tmp_path: Path) -> None:
    rows = filled(tmp_path).rows()
    before = open_files()
    held = [rows[2:9] for _ in range(5)]
    assert type(held[0]) is np.ndarray
    assert held[0].flags.owndata
    assert open_files() == before


def test_outputs_keep_double_precision(tmp_path: Path) -> None:
    np.testing.assert_array_equal(filled(tmp_path).outputs(), OUTPUTS)


def test_a_store_takes_up_the_plan_and_the_shards_that_are_there(tmp_path: Path) -> None:
    filled(tmp_path)
    again = ShardStore(tmp_path, SETTINGS)
    assert again.plan == PLAN
    assert [again.whole(number) is not None for number in range(4)] == [True, True, True, False]
    np.testing.assert_array_equal(again.rows()[:], ROWS)


def test_other_settings_take_up_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    other = ShardStore(tmp_path, SETTINGS | {"seed": 1})
    assert other.plan is None
    assert other.whole(0) is None


@pytest.mark.parametrize("position", [3, 60, -1])
def test_a_damaged_shard_is_not_whole(tmp_path: Path, position: int) -> None:
    store = filled(tmp_path)
    path = tmp_path / "shard-000001.safetensors"
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    assert [store.whole(number) is not None for number in range(3)] == [True, False, True]


def test_a_shard_cut_short_or_missing_is_not_whole(tmp_path: Path) -> None:
    store = filled(tmp_path)
    os.truncate(tmp_path / "shard-000000.safetensors", 50)
    (tmp_path / "shard-000002.safetensors").unlink()
    assert [store.whole(number) is not None for number in range(3)] == [False, True, False]


def test_a_shard_the_manifest_does_not_mention_is_not_whole(tmp_path: Path) -> None:
    filled(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    del manifest["shards"]["2"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert ShardStore(tmp_path, SETTINGS).whole(2) is None


def test_a_torn_manifest_of_ours_takes_up_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    os.truncate(tmp_path / "manifest.json", 40)
    assert ShardStore(tmp_path, SETTINGS).plan is None


def test_beginning_anew_removes_shards_but_nothing_else(tmp_path: Path) -> None:
    store = filled(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    store.begin(PLAN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "notes.txt"]


def test_what_a_killed_run_was_writing_is_removed(tmp_path: Path) -> None:
    filled(tmp_path)
    torn = [tmp_path / f".{name}.123.part" for name in ("shard-000003.safetensors", "manifest.json")]
    for path in torn:
        path.write_text("torn")
    assert ShardStore(tmp_path, SETTINGS).plan == PLAN
    assert not any(path.exists() for path in torn)


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.json"])
def test_a_folder_of_something_else_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"version": 3}')
    with pytest.raises(InputError, match=f"{name}.*name an empty folder"):
        ShardStore(tmp_path, SETTINGS)
    assert (tmp_path / name).exists()


def test_the_folder_is_made(tmp_path: Path) -> None:
    filled(tmp_path / "deep" / "down")
    assert (tmp_path / "deep" / "down" / "manifest.json").exists()


def test_the_same_rows_give_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        filled(tmp_path / name)
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert files[0] == files[1]
