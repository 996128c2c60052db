"""Ctrl-C: say what is left, and end as shells expect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from uniqueinfo.cli.failing import STOPPED
from uniqueinfo.cli.printing import say


@contextmanager
def stopping(told: str) -> Iterator[None]:
    """Within it, Ctrl-C ends the command with this message."""
    try:
        yield
    except KeyboardInterrupt:
        say(told)
        raise typer.Exit(STOPPED) from None
