"""What the user or the machine can mend is never called our fault, is refused in time, and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.runs.readers import files
from uniqueinfo.cli.failing import explained, ours
from uniqueinfo.errors import FitError


def _jsonl(**row: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        lines = [json.dumps({"a": number, "label": number % 2}) for number in range(40)]
        (folder / "t.jsonl").write_text("\n".join([*lines, json.dumps({"a": 1, "label": 0} | row)]))
        return folder / "t.jsonl"

    return write


def _broken_line(folder: Path) -> Path:
    path = _jsonl()(folder)
    path.write_text(path.read_text() + '\n{"a": oops')
    return path


def _classes() -> Any:
    return np.arange(24) % 2


def _labels(y: Callable[[], Any]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.savez(folder / "a.npz", X=np.random.default_rng(0).normal(size=(24, 3)), y=y())
        return folder / "a.npz"

    return write


def _not_utf8(folder: Path) -> Path:
    home = files.pictures(folder / "pictures")
    (home / "dark" / "0.jpg").rename(os.fsdecode(os.fsencode(home / "dark") + b"/\xff.jpg"))
    return home


def _broken_exif(folder: Path) -> Path:
    home = files.pictures(folder / "pictures")
    picture = home / "dark" / "0.jpg"
    whole = picture.read_bytes()
    exif = b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x04\xff\xff\xff\xff\xff\xff\xff\xff"
    picture.write_bytes(whole[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + whole[200:])
    return home


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "table.csv")
    return folder / "table.csv"


def _cut(folder: Path) -> Path:
    path = files.npz(folder / "cut.npz")
    path.write_bytes(path.read_bytes()[:-40])
    return path


MISTAKES: dict[str, tuple[Callable[[Path], Path], tuple[Any, ...], str]] = {
    "a seed below zero": (_labels(_classes), ("--seed", "-1"), "'--seed'"),
    "a device that is not there": (_labels(_classes), ("--device", "gpu9"), "'gpu9' cannot be used here"),
    "labels of three axes": (_labels(lambda: np.ones((24, 2, 2))), (), "labels are of shape (24, 2, 2); give one"),
    "a single label": (_labels(lambda: np.array(3)), (), "24 samples and a single label; give one"),
    "no labels at all": (_labels(lambda: np.ones((24, 0))), (), "labels are of shape (24, 0); give one"),
    "a file that is cut off": (_cut, (), "cut.npz: cannot be read"),
    "an object in a cell": (_jsonl(a={"b": 1}), (), "column 'a' holds an object in row 40"),
    "a list among numbers": (_jsonl(a=[1, "x"]), (), "holds a list of other things than numbers in row 40"),
    "a list as a label": (_jsonl(label=[1]), (), "the label 'label' holds lists"),
    "a broken line": (_broken_line, (), "line 42, column 7: Expecting value"),
    "a name that is not UTF-8": (_not_utf8, (), r"\xff.jpg: its name is not UTF-8; rename it"),
    "broken EXIF": (_broken_exif, (), "0.jpg: cannot be read"),
    "a pipe": (_pipe, (), "is a pipe or a device, which is read once at most; write it to a file first"),
    "too few to validate": (files.pictures, ("--model", "mlp:4", "--validate", 3), "--validate 3: give 10 to"),
    "validating a linear model": (_labels(_classes), ("--validate", 12), "its scores are exact already"),
    "a rate that diverges": (_labels(_classes), ("--lr", "1e9", "--steps", 9), "diverges on"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_user_is_told_and_nothing_is_left(mistake: str, tmp_path: Path, uniqueinfo: Caller) -> None:
    make, options, told = MISTAKES[mistake]
    made = make(tmp_path / "pictures") if make is files.pictures else make(tmp_path)
    answer = uniqueinfo("score", made, *options, "--out", tmp_path / "run")
    assert answer.code == 2, answer.err
    assert told in answer.err
    assert "our fault" not in answer.err
    assert not (tmp_path / "run").exists()


def test_a_better_try_in_the_same_folder_is_taken(tmp_path: Path, uniqueinfo: Caller) -> None:
    command = ("score", files.npz(tmp_path / "a.npz"), "--steps", 10, "--out", tmp_path / "run")
    assert uniqueinfo(*command, "--lr", "1e9").code == 2
    assert uniqueinfo(*command, "--lr", "0.01").code == 0


def test_a_model_file_that_calls_exit_ends_nothing(tmp_path: Path, uniqueinfo: Caller) -> None:
    (tmp_path / "net.py").write_text("raise SystemExit(0)")
    data = files.npz(tmp_path / "a.npz")
    answer = uniqueinfo("score", data, "--model", f"{tmp_path / 'net.py'}:make", "--out", tmp_path / "run")
    assert answer.code == 2
    assert "net.py:make: fails with SystemExit" in answer.err


def test_a_pipe_among_the_answers_does_not_hang(tmp_path: Path, uniqueinfo: Caller) -> None:
    uniqueinfo("score", files.npz(tmp_path / "a.npz"), "--out", tmp_path / "run")
    (tmp_path / "run" / "answers").mkdir()
    os.mkfifo(tmp_path / "run" / "answers" / "compare.json")
    assert uniqueinfo("report", tmp_path / "run").code == 0


def test_advice_to_open_files_unsafely_is_not_passed_on(tmp_path: Path, uniqueinfo: Caller) -> None:
    (tmp_path / "a.npy").write_bytes(b"\x80\x04 no array")
    answer = uniqueinfo("score", tmp_path / "a.npy", "--out", tmp_path / "run")
    assert "opening those could run code" in answer.err
    assert "allow_pickle" not in answer.err


def test_a_full_disk_is_the_machines() -> None:
    told, code = explained(OSError(errno.ENOSPC, "No space left", "/runs/a")) or ("", 0)
    assert code == 2
    assert told.startswith("error: /runs/a: the disk is full; free some space")
    assert "goes on" in told


def test_training_that_cannot_be_followed_is_no_fault_of_ours() -> None:
    assert (explained(FitError("take more steps")) or ("", 0))[1] == 2


def test_what_nobody_foresaw_is() -> None:
    assert explained(ZeroDivisionError("x")) is None
    assert ours(ZeroDivisionError("x"))[1] == 1


def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)


def y() -> np.ndarray:
    return np.arange(12) % 2


CALLS: dict[str, Callable[[], Any]] = {
    "training by name": lambda: ui.score_features(x(), y(), training="sgd"),  # type: ignore[arg-type]
    "a rate by name": lambda: ui.GradientDescent("fast", 10),  # type: ignore[arg-type]
    "a projection by name": lambda: ui.score(
        torch.nn.Linear(3, 1), (x(), y()), projection="random", progress=False  # type: ignore[arg-type]
    ),
    "a seed below zero": lambda: ui.RandomCoordinates(4, seed=-1),
    "a device that is not there": lambda: ui.score_features(x(), y(), device="gpu9"),
    "rows of different lengths": lambda: ui.score_features([[1], [1, 2]], [0, 1]),
    "ids that cannot be compared": lambda: ui.score_features(x(), y(), ids=[None, *range(11)]),
    "no scores": lambda: ui.mislabeled(None),  # type: ignore[arg-type]
    "no folder": lambda: ui.load(None),  # type: ignore[arg-type]
    "a loss that fails": lambda: ui.score_features(x(), y(), training=ui.Converged(0.1, loss=lambda f, y: 1 / 0)),  # type: ignore[arg-type, return-value]
    "a network that fails": lambda: ui.score(torch.nn.Linear(7, 1), (x(), y()), progress=False),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_python_is_told_too(call: str) -> None:
    with pytest.raises(ui.InputError):
        CALLS[call]()
