"""How far trainings are, step by step, and whether their time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class OutOfTimeError(Exception):
    """The deadline is past, and a training is not finished."""


class Meter:
    """Counts steps of trainings of about this many steps each; past a deadline it stops them."""

    def __init__(self, advance: Callable[[int], None], steps: int, deadline: float | None = None) -> None:
        self._advance, self._steps, self._deadline = advance, steps, deadline
        self._ahead = 0
        self._seconds = 0.0

    def step(self, copies: int) -> None:
        """One more step of so many copies."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTimeError
        told = min(copies, self._ahead)  # a training may take more steps than it should
        self._ahead -= told
        self._advance(told)

    @contextmanager
    def trainings(self, count: int) -> Iterator[None]:
        """So many trainings side by side: not begun where those before took longer than there is time left."""
        started = time.monotonic()
        if self._deadline is not None and started + self._seconds > self._deadline:
            raise OutOfTimeError
        self._ahead = self._steps * count
        yield
        self._seconds = time.monotonic() - started
        self._advance(self._ahead)  # it may have taken fewer, or have been found in a folder
