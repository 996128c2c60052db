"""A bar with rate and time left for whatever takes longer than two seconds, and for nothing else; times in words."""

import math
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from uniqueinfo.errors import InputError

_PATIENCE = 2.0  # seconds a task may take before it shows
_TICK = 0.2
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_wanted: ContextVar[bool] = ContextVar("wanted", default=True)


class _Rate(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.3g} {self._unit}/s")


def hide() -> None:
    """Show nothing from here on."""
    _wanted.set(False)


@contextmanager
def showing(wanted: bool) -> Iterator[None]:
    """Whether what happens in here shows how far it is."""
    token = _wanted.set(wanted and _wanted.get())
    try:
        yield
    finally:
        _wanted.reset(token)


@contextmanager
def progress(
    description: str, total: int, *, unit: str = "samples", show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many more are done; the bar goes to stderr if that is a terminal.

    >>> with progress("Counting", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    if not (show and _visible()):
        yield lambda _: None
        return
    count = TextColumn("{task.completed:,.0f}/{task.total:,.0f}")
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), count, _Rate(unit), *_left(), console=Console(stderr=True)
    )
    task = bar.add_task(description, total=total)
    with _after_a_while(bar):
        yield lambda done: bar.advance(task, done)


@contextmanager
def expecting(description: str, seconds: Callable[[], float]) -> Iterator[None]:
    """A bar for one step that cannot be looked into: it goes with the clock, by the seconds the step should take.

    >>> with expecting("Thinking", lambda: 0.1):
    ...     pass
    """
    if not _visible():
        yield
        return
    total = seconds()
    bar = Progress(TextColumn("{task.description}"), BarColumn(), *_left(), console=Console(stderr=True))
    task = bar.add_task(description, total=total)
    done = threading.Event()

    def tick() -> None:
        started = time.perf_counter()
        while not done.wait(_TICK):
            bar.update(task, completed=min(time.perf_counter() - started, 0.99 * total))

    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        with _after_a_while(bar):
            yield
    finally:
        done.set()
        clock.join()


def as_seconds(name: str, given: str | float) -> float:
    """A time that a user names: seconds, or text such as "90s", "10m" or "1.5h".

    >>> as_seconds("budget", "10m"), as_seconds("budget", 90)
    (600.0, 90.0)
    """
    text = given if isinstance(given, str) else f"{given:.6f}" if type(given) in (int, float) else ""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise InputError(f"{name}: {given!r} is not a time; write 90s, 10m or 2h, or a number of seconds")
    seconds = float(match[1]) * _UNITS[match[2]]
    if not 0 < seconds < math.inf:
        raise InputError(f"{name}: {given!r} leaves no time; give more than zero seconds")
    return seconds


def in_words(seconds: float) -> str:
    """Seconds as people say them.

    >>> in_words(0.3), in_words(75), in_words(9000)
    ('1 s', '1 min 15 s', '2 h 30 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _visible() -> bool:
    return _wanted.get() and sys.stderr.isatty()


def _left() -> tuple[ProgressColumn, ProgressColumn]:
    return TimeRemainingColumn(), TextColumn("left")


@contextmanager
def _after_a_while(bar: Progress) -> Iterator[None]:
    timer = threading.Timer(_PATIENCE, bar.start)  # shows even while the first step is still running
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
