"""Samples by group: a column of the user's, or a group for each sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError, known_names
from uniqueinfo.samples.border import SEVERAL

By = str | Sequence[Any] | NDArray[Any]
_GROUPS = replace(SEVERAL, words="the name of a column, or a list with the group of each sample")


def groups_of(by: By, table: pd.DataFrame, samples: int) -> tuple[str, pd.Categorical[Any]]:
    """What the groups are called, and the group of every sample; empty cells are a group of their own.

    >>> groups_of("vendor", pd.DataFrame({"vendor": ["A", None, "A"]}), 3)[1].tolist()
    ['A', '(none)', 'A']
    """
    if isinstance(by, str):
        if by not in table:
            there = known_names(by, table) if len(table.columns) else "there are no columns to group by"
            raise InputError(f"by: there is no column {by!r}; {there}")
        name, values = by, table[by]
    else:
        _GROUPS.check("by", by)
        name, values = "group", pd.Series(list(by))
    if len(values) != samples:
        raise InputError(f"by: expected a group for each of the {samples} samples, got {len(values)}")
    return name, pd.Categorical(values.astype(object).where(values.notna(), "(none)").astype(str))
