"""Tables on a terminal of 80 columns."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.calling import Caller
from uniqueinfo.cli.printing import Screen
from uniqueinfo.cli.tables import by_group, print_table

LONG = "scans-of-the-northern-archive/box-0017/sheet-0042"


@pytest.fixture
def frame() -> pd.DataFrame:
    measures = {name: np.full(2, 0.000123456) for name in ("functional", "weight", "value", "loo_loss")}
    return pd.DataFrame({"id": [f"{LONG}-{i}.png" for i in range(2)], "label": [3, 5], **measures, "source": "web"})


def printed(frame: pd.DataFrame, *, wide: bool = False) -> list[str]:
    file = io.StringIO()
    print_table(Screen(file=file, width=80), "Most informative", frame, wide=wide)
    return file.getvalue().splitlines()


def test_columns_that_do_not_fit_are_left_out_and_named(frame: pd.DataFrame) -> None:
    said = printed(frame)
    assert max(map(len, said[:-1])) <= 80
    assert said[-1] == "Columns left out: weight, value, loo_loss, source; --wide shows all."


def test_ids_stay_whole_beside_fewer_columns(frame: pd.DataFrame) -> None:
    text = "".join(part.strip() for line in printed(frame) if line.startswith("│") for part in [line.split("│")[1]])
    assert all(name in text for name in frame["id"])


def test_wide_shows_all_columns(frame: pd.DataFrame) -> None:
    said = printed(frame, wide=True)
    assert all(str(name) in said[2] for name in frame)
    assert not any("left out" in line for line in said)


def test_numbers_that_name_samples_keep_all_their_digits() -> None:
    assert any("1234567" in line for line in printed(pd.DataFrame({"id": [1234567.0], "weight": [0.5]})))


def test_groups_of_several_labels_are_compared() -> None:
    labels = [np.array([1, 0]), np.array([1, 0]), np.array([0, 1])]
    frame = pd.DataFrame({"label": labels, "weight": [1.0, 3.0, 1.0], "loo_loss": 0.5})
    assert by_group(frame, "label")["information"].to_dict() == {"[1 0]": 2.0, "[0 1]": 1.0}


def test_numbers_to_predict_are_no_groups(uniqueinfo: Caller, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "t.npz", X=rng.normal(size=(60, 3)), y=rng.normal(size=60))
    assert uniqueinfo("score", tmp_path / "t.npz", "--out", tmp_path / "run").code == 0
    assert "By label: almost every sample has a value of its own" in uniqueinfo("show", tmp_path / "run").out
