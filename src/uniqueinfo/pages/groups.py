"""Which groups of samples the page compares: the classes, and the values of the user's columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from uniqueinfo.pages.figures import Comparison
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.scores.several import Said
from uniqueinfo.scores.table import Scores
from uniqueinfo.types import Floats, Indices

_COLUMNS = 8
"""Columns of the user's by which samples are grouped."""


def compared(scores: Scores, said: Said | None, information: Floats, suspected: Indices) -> Iterator[Comparison]:
    """Classes side by side, then the groups of each of the user's first columns."""
    measures: dict[str, Any] = {"information": information}
    if scores.value is not None:
        measures["value"] = scores.value
    if said is not None:
        measures["suspect"] = np.isin(np.arange(len(scores)), suspected)
        labels = pd.Series(said.given_words)
        groups = labels if isinstance(said, Predictions) else _grouped(labels)
        if isinstance(said, Predictions) or groups.nunique() > 1:
            yield Comparison.of("label", groups, measures)
    if scores.columns is None:
        return
    for name in scores.columns.columns[:_COLUMNS]:
        groups = _grouped(scores.columns[name])
        if groups.nunique() > 1:
            yield Comparison.of(str(name), groups, measures)


def _grouped(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column's values as names of groups: numbers of many values by quarters; one group where all values differ."""
    distinct = column.nunique()
    if pd.api.types.is_numeric_dtype(column) and distinct > 12:
        quarters = pd.qcut(column, 4, duplicates="drop", precision=3)
        return pd.Series(quarters.cat.rename_categories(_range_name)).astype(object).fillna("missing")
    if distinct > len(column) / 2 and distinct > 12:
        return pd.Series("all", index=column.index)
    return column.astype(object).where(column.notna(), "missing").map(str)


def _range_name(interval: pd.Interval[float]) -> str:
    return f"{interval.left:.3g} – {interval.right:.3g}"
