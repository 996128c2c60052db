"""Scores, answers and figures as a notebook shows them: small, and everything a user gave is text."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Any

import pandas as pd

_ROWS, _COLUMNS, _LONGEST = 5, 10, 120


def shown(
    title: str, frame: pd.DataFrame, picture: str | None = None, said: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A sentence, what else is to be said by name, the first rows of a table, and a figure by its data address.

    >>> shown("a < b", pd.DataFrame({"n": [1.23456]}))
    '<p>a &lt; b</p><table><thead><tr><th>n</th></tr></thead><tbody><tr><td>1.23</td></tr></tbody></table>'
    """
    names = list(frame)[:_COLUMNS]
    head = "".join(f"<th>{_cell(str(name))}</th>" for name in names)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>"
        for row in frame[names].head(_ROWS).itertuples(index=False)
    )
    hidden = [
        f"{len(frame) - _ROWS:,} more rows" if len(frame) > _ROWS else "",
        f"{frame.shape[1] - len(names)} more columns" if frame.shape[1] > len(names) else "",
    ]
    more = " and ".join(filter(None, hidden))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if len(frame) else ""
    drawn = "" if picture is None else f'<img src="{escape(picture)}" alt="{escape(title)}" style="max-width:40em">'
    named = "".join(f"<li><b>{escape(name)}</b>: {_cell(text)}</li>" for name, text in said.items())
    listed = f"<ul>{named}</ul>" if named else ""
    return f"<p>{escape(title)}</p>{listed}{table}{f'<p>… {more} in .frame()</p>' if more else ''}{drawn}"


def _cell(value: Any) -> str:
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
