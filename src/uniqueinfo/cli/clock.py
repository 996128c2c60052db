"""How long the present command has taken: its imports count for those who wait."""

from __future__ import annotations

import time
from contextvars import ContextVar

_began: ContextVar[float | None] = ContextVar("began", default=None)


def begin() -> None:
    """From here on."""
    _began.set(time.perf_counter())


def elapsed() -> float:
    """Seconds since the command began; 0 where there is none."""
    began = _began.get()
    return 0.0 if began is None else time.perf_counter() - began
