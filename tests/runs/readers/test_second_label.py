"""Columns named like a label: which one is meant is asked, and what is trained on is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.runs.readers import files
from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Reading, read


def two_labels(folder: Path) -> Path:
    frame = files.table().rename(columns={"kind": "label"})
    return files.csv(folder / "t.csv", frame.assign(y=frame["label"]))


def test_two_columns_named_like_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"columns 'label' and 'y' could all be the label; name it with --label"):
        read(two_labels(tmp_path), Reading())


def test_one_that_is_trained_on_is_said(tmp_path: Path) -> None:
    found = read(two_labels(tmp_path), Reading(label="label"))
    assert any("column 'y' is trained on, though named like a label" in note for note in found.notes)


def test_one_that_only_travels_along_is_no_label(tmp_path: Path) -> None:
    assert "y" not in (read(two_labels(tmp_path), Reading(extra=("y",))).roles or {})


def test_two_arrays_named_like_labels_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.eye(4), y=np.arange(4) % 2, labels=np.arange(4) % 2)
    with pytest.raises(InputError, match="arrays y and labels could all be the label"):
        read(tmp_path / "t.npz", Reading())
