"""Where the command line prints: tables and sentences, JSON, and errors, with nothing in them that a terminal obeys."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from uniqueinfo.terminal import OBEYED, printable


class Screen(Console):
    """The console of all commands. Every text and every cell of a table comes through `render_str`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "soft_wrap": True} | options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As Rich does it, once the text is harmless."""
        return super().render_str(printable(text), **options)


def print_json(value: Any) -> None:
    """For machines; read again it is the same, also where a text holds what a terminal would obey."""
    print(OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, indent=2, ensure_ascii=False)))


def say(text: str) -> None:
    """A line beside the results: a note, or an error."""
    print(printable(text), file=sys.stderr)
