"""What each column of a table is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

UNTRAINED = ("date", "other")
"""Roles that are not trained on."""
_MOST_CATEGORIES = 50
_WORDS = 4  # a column of more words a cell than these, on average, is text
_DATE = re.compile(r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})([ T]\d.*)?")


def role_of(column: pd.Series[Any]) -> str:
    """What a column is: number, vector, category, text; or date or other (names), which are not trained on.

    >>> role_of(pd.Series([1.5, 2.0])), role_of(pd.Series(["a", "b", "a"]))
    ('number', 'category')
    >>> role_of(pd.Series(["2024-01-31", "2024-02-01"])), role_of(pd.Series(["31.1.2024 10:30", None]))
    ('date', 'date')
    """
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    filled = column.dropna()
    if len(filled) and isinstance(filled.iloc[0], list | np.ndarray):
        return "vector"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    values = filled.astype(str)
    if len(values) and values.str.fullmatch(_DATE).all():
        return "date"
    if values.str.count(" ").mean() >= _WORDS:
        return "text"
    return "category" if values.nunique() <= min(_MOST_CATEGORIES, max(2, len(values) // 2)) else "other"
