"""Tables as text: ids are never cut; where there is no room for all columns, the first ones are shown."""

from __future__ import annotations

from typing import Any

import pandas as pd

from uniqueinfo.terminal import printable

IDS = ("id", "other", "input")
"""Columns of ids: never cut, and never left out."""
_LONGEST = 40
"""Characters of a cell that is no id."""
_BESIDE = 2
"""Columns shown beside the ids however long these are: ids alone say nothing."""


def cells(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Every cell as text: numbers with three digits, ids as they are.

    >>> cells(pd.DataFrame({"id": [40512.0], "label": ["cat"], "weight": [0.12345]}))
    {'id': ['40512'], 'label': ['cat'], 'weight': ['0.123']}
    """
    return {str(name): [_cell(value, whole=name in IDS) for value in frame[name]] for name in frame}


def widths(shown: dict[str, list[str]]) -> dict[str, int]:
    """Characters that each column takes."""
    return {name: max(map(len, (name, *column))) for name, column in shown.items()}


def fitting(widths: dict[str, int], room: int, between: int) -> list[str]:
    """The columns that fit into so many characters, in their order: ids, and of the others the first.

    >>> fitting({"id": 9, "label": 5, "functional": 10, "weight": 8}, room=30, between=2)
    ['id', 'label', 'functional']
    """
    others = [name for name in widths if name not in IDS]
    left = room - sum(width + between for name, width in widths.items() if name in IDS)
    count = 0
    for name in others:
        left -= widths[name] + between
        if left < 0:
            break
        count += 1
    chosen = others[: max(count, _BESIDE)]
    return [name for name in widths if name in IDS or name in chosen]


def left_out(frame: pd.DataFrame, shown: list[str]) -> str:
    """Which columns are not shown; empty where all are."""
    names = [str(name) for name in frame if str(name) not in shown]
    return f"Columns left out: {', '.join(names)}" if names else ""


def as_text(frame: pd.DataFrame, room: int) -> str:
    """Rows as plain text, and beneath them which columns had no room.

    >>> print(as_text(pd.DataFrame({"id": ["a.jpg"], "label": ["cat"], "functional": [0.1], "weight": [2.0]}), 28))
       id  label  functional
    a.jpg    cat         0.1
    Columns left out: weight
    """
    found = cells(frame)
    wide = widths(found)
    shown = fitting(wide, room, between=2)
    rows = zip(*([name, *found[name]] for name in shown), strict=True)
    lines = ["  ".join(f"{cell:>{wide[name]}}" for name, cell in zip(shown, row, strict=True)) for row in rows]
    return "\n".join([*lines, *filter(None, [left_out(frame, shown)])])


def _cell(value: Any, *, whole: bool) -> str:
    if isinstance(value, float) and not whole:
        return f"{value:.3g}"
    text = printable(str(int(value) if isinstance(value, float) and value.is_integer() else value), lines=False)
    return text if whole or len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
