"""The little Markdown that pages are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table.

    >>> print(table(("a", "b"), [(1, "x")]), end="")
    | a | b |
    | --- | --- |
    | 1 | x |
    """
    named = list(head)
    return "\n".join(map(_line, [named, ["---"] * len(named), *rows])) + "\n"


def folded(title: str, text: str) -> str:
    """What is shown when its title is clicked."""
    return f"<details><summary>{title}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def _line(cells: Iterable[Any]) -> str:
    """One row of a table; a bar would end the cell.

    >>> _line(["p(w|S)", 3])
    '| p(w\\\\|S) | 3 |'
    """
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def quoted(*sentences: str) -> str:
    """The opening of a page: what its visitors can quote.

    >>> quoted("It works.", "Mostly.")
    '> It works. Mostly.'
    """
    return textwrap.fill(" ".join(sentences), 120, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False)
