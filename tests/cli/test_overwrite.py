"""`uniqueinfo score --overwrite`: a run folder is begun anew, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import uniqueinfo as ui
from tests.cli.calling import Caller


def test_a_run_folder_is_begun_anew_where_asked(tmp_path: Path, uniqueinfo: Caller) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(40, 3)), y=np.arange(40) % 2)
    command = ("score", tmp_path / "a.npz", "--out", tmp_path / "run", "--lr", 0.01, "--steps")
    assert uniqueinfo(*command, 10).code == 0
    assert uniqueinfo(*command, 20).code == 2
    assert uniqueinfo(*command, 20, "--overwrite").code == 0
    assert ui.load(tmp_path / "run").settings["training"]["steps"] == 20


def test_a_folder_of_other_things_is_never_begun_anew(tmp_path: Path, uniqueinfo: Caller) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(40, 3)), y=np.arange(40) % 2)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "one.tex").write_text("dear")
    answer = uniqueinfo("score", tmp_path / "a.npz", "--out", tmp_path / "thesis", "--overwrite")
    assert answer.code == 2
    assert (tmp_path / "thesis" / "one.tex").read_text() == "dear"
