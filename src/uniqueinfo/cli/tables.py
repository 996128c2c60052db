"""Scores as tables for a terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd
from rich.console import JustifyMethod, OverflowMethod
from rich.markup import escape
from rich.table import Table

from uniqueinfo.applications.printing import IDS, cells, fitting, left_out, widths
from uniqueinfo.cli.printing import Screen

_BETWEEN = 3
"""Characters around a cell: a blank on either side, and a line."""


def information(frame: pd.DataFrame) -> str:
    """The measure to sort by: functional information where there is validation data, else that in the weights."""
    return "functional" if "functional" in frame else "weight"


def leading(frame: pd.DataFrame, count: int, *, least: bool = False) -> pd.DataFrame:
    """The most, or the least, informative samples."""
    measure = information(frame)
    return frame.nsmallest(count, measure) if least else frame.nlargest(count, measure)


def by_group(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Samples, mean information and mean leave-one-out loss of each group, the most informative first."""
    values = frame[column]
    rows = values.map(lambda value: isinstance(value, np.ndarray))  # several labels for each sample
    groups = frame.groupby(values.where(~rows, values.astype(str)), dropna=False)
    table = pd.DataFrame(
        {
            "samples": groups.size(),
            "information": groups[information(frame)].mean(),
            "loo_loss": groups["loo_loss"].mean(),
        }
    )
    return table.sort_values("information", ascending=False)


def print_table(console: Screen, title: str, frame: pd.DataFrame, *, wide: bool = False) -> None:
    """One row for each sample: as many columns as the terminal is wide, or all of them; which are left out is said."""
    found = cells(frame)
    width = widths(found)
    shown = list(found) if wide else fitting(width, console.width - 1, between=_BETWEEN)
    table = Table(title=escape(title), title_justify="left")
    for name in shown:
        right = frame[name].dtype.kind in "fiu"
        # A name that is cut names nobody: where ids are too wide for the terminal, they go on in the next line.
        folds = name in IDS and not wide
        side: JustifyMethod = "right" if right else "left"
        ends: OverflowMethod = "fold" if folds else "ellipsis"
        table.add_column(escape(name), justify=side, overflow=ends, no_wrap=not folds)
    for row in zip(*(found[name] for name in shown), strict=True):
        table.add_row(*map(escape, row))
    if wide:
        room = max(console.width, sum(width.values()) + _BETWEEN * len(width) + 1)
        console = Screen(file=console.file, soft_wrap=False, width=room, quiet=console.quiet)
    console.print(table)
    left = left_out(frame, shown)
    if left:
        console.print(f"{escape(left)}; --wide shows all.", soft_wrap=True)
