"""Tables of features: numbers and categories, by their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import uniqueinfo as ui
from tests.oracles.compare import close


def table(n: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"size": rng.normal(size=n), "colour": np.where(np.arange(n) % 3, "red", "blue")})


def labels(n: int = 40) -> pd.Series:
    return pd.Series(np.where(np.arange(n) % 2, "yes", "no"))


def test_a_table_scores_as_its_numbers_do() -> None:
    frame = table()
    written = np.column_stack([frame["size"], frame["colour"] == "blue", frame["colour"] == "red"]).astype(float)
    found = ui.score_features(frame, labels(), frame, labels())
    wanted = ui.score_features(written, labels(), written, labels())
    close(found.functional, wanted.functional, rtol=1e-10)


def test_columns_in_another_order_are_the_same_columns() -> None:
    frame = table()
    found = ui.score_features(frame, labels(), frame[["colour", "size"]])
    close(found.functional, ui.score_features(frame, labels(), frame).functional, rtol=1e-10)


def test_what_cannot_be_used_is_named_all_at_once() -> None:
    frame = table().assign(when=pd.Timestamp("2020-01-01"), who=[f"person {i}" for i in range(40)])
    with pytest.raises(ui.InputError, match="X: columns 'when', 'who' are neither numbers nor categories"):
        ui.score_features(frame, labels())


def test_empty_cells_are_named_by_their_columns() -> None:
    frame = table().assign(weight=np.nan)
    frame.loc[3, "size"] = np.nan
    with pytest.raises(ui.InputError, match="X: columns 'size', 'weight' are empty, NaN or infinite"):
        ui.score_features(frame, labels())


def test_empty_cells_are_counted_and_the_first_row_named() -> None:
    frame = table()
    frame.loc[[3, 5], "size"] = np.nan
    with pytest.raises(ui.InputError, match=r"'size' in 2, first row 3\); fill them, as by X.fillna"):
        ui.score_features(frame, labels())


def test_an_index_names_the_samples() -> None:
    frame = table().set_index(np.arange(40) + 500)
    assert ui.score_features(frame, labels()).frame()["id"].tolist() == list(range(500, 540))


def test_an_index_that_repeats_names_nobody() -> None:
    frame = table().set_index(np.zeros(40))
    assert ui.score_features(frame, labels()).frame()["id"].tolist() == list(range(40))


def test_a_column_that_validation_lacks_is_named() -> None:
    with pytest.raises(ui.InputError, match="X_val: column 'colour' is missing, against X"):
        ui.score_features(table(), labels(), table()[["size"]])


@pytest.mark.parametrize("trained", [None, {}])
def test_a_scikit_learn_model_is_told_where_to_go(trained: dict[str, Any] | None) -> None:
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(ui.InputError, match=r"a torch nn.Module, got LogisticRegression.*score_features"):
        ui.score(LogisticRegression(), (np.eye(3), [0, 1, 0]), trained=trained)
