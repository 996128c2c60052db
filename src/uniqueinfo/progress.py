"""A bar with rate and time left for whatever takes longer than two seconds, and for nothing else."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

_PATIENCE = 2.0  # seconds a task may take before it shows


class _Rate(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.3g} {self._unit}/s")


@contextmanager
def progress(
    description: str, total: int, *, unit: str = "samples", show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many more are done; the bar goes to stderr if that is a terminal.

    >>> with progress("Counting", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    if not (show and sys.stderr.isatty()):
        yield lambda _: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        _Rate(unit),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
    )
    task = bar.add_task(description, total=total)
    timer = threading.Timer(_PATIENCE, bar.start)  # shows even while the first step is still running
    timer.daemon = True
    timer.start()
    try:
        yield lambda done: bar.advance(task, done)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
