"""What a plan says about the form that is chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from uniqueinfo.memory import resident
from uniqueinfo.runs.estimate import Plan, plan
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.spectrum import choice


def planned(folder: Path) -> Plan:
    """A linear model on 96 training and 24 validation samples of 80 features (81 columns with the intercept)."""
    rng = np.random.default_rng(0)
    np.savez(folder / "a.npz", X=rng.normal(size=(120, 80)), y=rng.integers(0, 2, 120))
    return plan(prepare(Job(folder / "a.npz", ModelChoice("linear"))))


def test_it_says_which_side_is_the_smaller(tmp_path: Path) -> None:
    said = planned(tmp_path).lines()
    assert said["form"] == "primal: eigenvalues of a 81 × 81 matrix"
    assert said["reason"] == "there are fewer columns (D = 81) than rows (nk = 96)"


def test_it_says_why_a_sketch_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = planned(tmp_path)
    monkeypatch.setattr(choice, "LARGEST", 50)
    monkeypatch.setattr(choice, "DIRECTIONS", 40)
    found = planned(tmp_path)
    assert (whole.form, found.form, found.side) == ("primal", "sketch", 40)
    assert "rows (nk = 96) and columns (D = 81) are both more than 50, so 40 directions" in found.lines()["reason"]
    assert "estimate of its error" in found.lines()["reason"]


def test_a_network_is_estimated_by_what_is_kept_of_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(1200, 40)), y=np.arange(1200) % 10)
    found = {
        effort: plan(prepare(Job(tmp_path / "a.npz", ModelChoice("mlp:400"), effort=effort)))
        for effort in ("exact", "minutes", "1s")
    }
    assert [found[effort].side for effort in found] == [9600, 960, 960]
    assert "exact: kernels of 9,600 rows" in found["exact"].projection
    assert "outputs taken to be alike" in found["minutes"].projection
    assert found["exact"].seconds > found["minutes"].seconds > 0
    assert found["exact"].memory_bytes >= 24 * 9600**2 > found["minutes"].memory_bytes


def test_what_the_command_took_so_far_counts(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(40), y=np.arange(40) % 2)
    prepared = prepare(Job(tmp_path / "a.npz", ModelChoice("linear")))
    assert plan(prepared, 1000.0).seconds > 1000


def test_what_libraries_hold_counts(tmp_path: Path) -> None:
    assert planned(tmp_path).memory_bytes > 0.9 * resident() > 10 * 2**20
