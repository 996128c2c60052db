"""A bar with rate and time left for whatever takes longer than two seconds, and for nothing else."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

_PATIENCE = 2.0  # seconds a task may take before it shows
_TICK = 0.2
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
