"""Ctrl-C: say what is left, and end as shells expect."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

_STOPPED = 130  # the exit code that shells expect after Ctrl-C


@contextmanager
def stopping(told: str) -> Iterator[None]:
    """Within it, Ctrl-C ends the command with this message."""
    try:
        yield
    except KeyboardInterrupt:
        print(told, file=sys.stderr)
        raise typer.Exit(_STOPPED) from None
