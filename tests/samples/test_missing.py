"""Labels and ids that are not there are refused by the sample, in whatever way they are not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from torch import nn

import uniqueinfo as ui

X = ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 1.0), (0.0, 2.0), (1.0, 2.0))
MISSING: dict[str, Callable[[], Any]] = {
    "None": lambda: [0, 1, None, 1, 0, 1],
    "None among names": lambda: ["a", "b", None, "b", "a", "b"],
    "NaN": lambda: [0.0, 1.0, np.nan, 1.0, 0.0, 1.0],
    "NaN among names": lambda: ["a", "b", np.nan, "b", "a", "b"],
    "NaN among objects": lambda: np.array(["a", "b", np.nan, "b", "a", "b"], dtype=object),
    "pd.NA": lambda: pd.Series(["a", "b", pd.NA, "b", "a", "b"]),
    "nullable numbers": lambda: pd.array([0, 1, None, 1, 0, 1], dtype="Int64"),
    "a category": lambda: pd.Categorical(["a", "b", None, "b", "a", "b"]),
    "a mask": lambda: np.ma.masked_array([0, 1, 0, 1, 0, 1], mask=[False, False, True, False, False, False]),
    "NaT": lambda: np.array(["2020-01-01", "2020-01-02", "NaT", "2020-01-03", "2020-01-04", "2020-01-05"], "M8[D]"),
}


@pytest.mark.parametrize("kind", MISSING)
@pytest.mark.parametrize("whose", ["training", "validation", "network"])
def test_a_missing_label_is_no_class(kind: str, whose: str) -> None:
    calls: dict[str, Callable[[Any], object]] = {
        "training": lambda labels: ui.score_features(X, labels),
        "validation": lambda labels: ui.score_features(X, [0, 1] * 3, X, labels),
        "network": lambda labels: ui.score(nn.Linear(2, 2), (np.array(X, dtype=np.float32), labels)),
    }
    with pytest.raises(ui.InputError, match=r"sample 2 has no label; fill it in"):
        calls[whose](MISSING[kind]())


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_id_is_no_name(kind: str) -> None:
    with pytest.raises(ui.InputError, match=r"ids: sample 2 has no id; name every sample"):
        ui.score_features(X, [0, 1] * 3, ids=MISSING[kind]())


def test_ids_of_two_kinds_are_refused() -> None:
    with pytest.raises(ui.InputError, match="ids: some are texts and some are not"):
        ui.score_features(X, [0, 1] * 3, ids=np.array(["a", 1, "b", 2, "c", 3], dtype=object))
