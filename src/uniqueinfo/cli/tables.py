"""Scores as tables for a terminal."""

from __future__ import annotations

from typing import Any

import pandas as pd
from rich.markup import escape
from rich.table import Table

_LONGEST = 40
"""Characters of a cell that is no id."""


def information(frame: pd.DataFrame) -> str:
    """The measure to sort by: functional information where there is validation data, else that in the weights."""
    return "functional" if "functional" in frame else "weight"


def leading(frame: pd.DataFrame, count: int, *, least: bool = False) -> pd.DataFrame:
    """The most, or the least, informative samples."""
    measure = information(frame)
    return frame.nsmallest(count, measure) if least else frame.nlargest(count, measure)


def by_group(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Samples, mean information and mean leave-one-out loss of each group, the most informative first."""
    groups = frame.groupby(column, dropna=False)
    table = pd.DataFrame(
        {
            "samples": groups.size(),
            "information": groups[information(frame)].mean(),
            "loo_loss": groups["loo_loss"].mean(),
        }
    )
    return table.sort_values("information", ascending=False)


def sample_table(title: str, frame: pd.DataFrame) -> Table:
    """One row for each sample."""
    table = Table(title=escape(title), title_justify="left")
    for name in frame.columns:
        right = frame[name].dtype.kind in "fiu"
        # A name that is cut names nobody: it goes on in the next line instead.
        table.add_column(escape(str(name)), justify="right" if right else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value, whole=name == "id") for name, value in zip(frame.columns, row, strict=True)))
    return table


def group_table(by: str, groups: pd.DataFrame) -> Table:
    """One row for each group."""
    table = sample_table(f"By {by}, mean information", groups.reset_index())
    return table


def _cell(value: Any, *, whole: bool) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(value)
    return escape(text if whole or len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
