"""How many threads the numerics use, on a machine that others use too.

Threads meet at the end of every product and at every step of an eigendecomposition. Those that are early spin until the
last is there, and beside another process on one of the cores the last one comes late every time: two threads then take
fifty times as long as one. So threads sleep while they wait (`wait_asleep`, which only works before torch is loaded),
and there are no more of them than processors are free (`sharing`).

The number of threads decides in which order some sums are taken: with the same number scores are the same bit for bit,
with another they agree to rounding. `sharing(2)` fixes it, whatever else the machine does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from uniqueinfo.errors import InputError

Result = TypeVar("Result")

_POLICY = "OMP_WAIT_POLICY"  # read by every OpenMP, of GCC, LLVM and Intel, when it is loaded
_LOOK = 0.05  # seconds over which processors are watched: the system counts in hundredths
_FRESH = 5.0  # seconds for which what was seen holds
_lock = threading.Lock()


class _State:
    """Of this process: who is at work, and what was seen last."""

    depth: int = 0
    threads: int = 1
    held: ExitStack = ExitStack()
    asleep: bool = False
    named: bool = False
    seen: tuple[float, float] = (-_FRESH, 0.0)
    pool: ThreadPoolExecutor | None = None
    """Threads of `together`, begun when they are first needed: beginning them for every product costs a tenth of it."""


def wait_asleep() -> None:
    """Have threads of OpenMP sleep while they wait for others, unless the user said otherwise, or it is too late."""
    if "torch" not in sys.modules:
        os.environ.setdefault(_POLICY, "passive")
        _State.asleep = os.environ[_POLICY].lower() == "passive"


@contextmanager
def sharing(threads: int | None = None, *, small: bool = False) -> Iterator[int]:
    """Use as many threads as processors are free, or as many as are named; put everything back at the end.

    Never more than torch was told to use. What is `small` gains nothing by a second thread. Inside another one this
    changes nothing; numpy's products have one thread each, and `together` runs some at a time.

    >>> import torch
    >>> before = torch.get_num_threads()
    >>> with sharing(1) as threads:
    ...     threads, torch.get_num_threads(), torch.get_num_threads() <= before
    (1, 1, True)
    >>> torch.get_num_threads() == before
    True
    """
    if threads is not None and (type(threads) is not int or threads < 1):
        raise InputError(f"threads: expected how many to use, 1 or more, got {threads!r}")
    with _lock:
        if _State.depth == 0:
            _State.held, _State.threads = _limited(threads, small=small)
            _State.named = threads is not None
        _State.depth += 1
    try:
        yield _State.threads
    finally:
        with _lock:
            _State.depth -= 1
            if _State.depth == 0:
                _State.held.close()
                _State.threads = 1


def look_again() -> None:
    """Where waiting threads spin, go down to what is free by now: a second process would stop them nearly for good.

    Threads that sleep, or whose number was named, go on as they are, and so do the bits that come out.
    """
    if _State.asleep or _State.named or _State.threads == 1:
        return
    import torch

    with _lock:
        _State.threads = min(_State.threads, free())
        torch.set_num_threads(_State.threads)


def together(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run tasks that leave Python alone, such as numpy's products, on the threads there are; in their order.

    >>> together([lambda: 1, lambda: 2])
    [1, 2]
    """
    if _State.threads == 1 or len(tasks) == 1:
        return [task() for task in tasks]
    with _lock:
        if _State.pool is None:
            _State.pool = ThreadPoolExecutor(_State.threads)
            _State.held.callback(_end, _State.pool)
        pool = _State.pool
    return [each.result() for each in [pool.submit(task) for task in tasks]]


def _end(pool: ThreadPoolExecutor) -> None:
    pool.shutdown()
    _State.pool = None


def free(stat: Path = Path("/proc/stat")) -> int:
    """Processors that this process may use and that others leave idle, at least 1; all of them where nothing tells."""
    most = allowed()
    if most == 1 or not stat.exists():
        return most
    when, busy = _State.seen
    if time.monotonic() - when >= _FRESH:
        before = _idle(stat)
        started = time.monotonic()
        time.sleep(_LOOK)
        passed = time.monotonic() - started
        busy = sum(max(0.0, 1 - (now - then) / passed) for now, then in zip(_idle(stat), before, strict=True))
        _State.seen = time.monotonic(), busy
    return max(1, min(most, round(len(_mine()) - busy)))


def allowed(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Processors that this process may use, by its affinity and by the limit of its container."""
    most = len(_mine())
    limit = cgroup / "cpu.max"
    if limit.exists():
        quota, period = limit.read_text().split()
    else:
        old = [cgroup / "cpu" / f"cpu.cfs_{name}_us" for name in ("quota", "period")]
        quota, period = (path.read_text().strip() if path.exists() else "max" for path in old)
    if quota.isdigit() and period.isdigit():  # "max" or -1: no limit
        most = min(most, int(quota) // int(period))
    return max(1, most)


def _mine() -> set[int]:
    """The processors that this process may run on, by their numbers."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _idle(stat: Path) -> list[float]:
    """Seconds that each of our processors has been idle since the machine was started."""
    tick = os.sysconf("SC_CLK_TCK")
    fields = {line.split()[0]: line.split()[1:] for line in stat.read_text().splitlines() if line.startswith("cpu")}
    return [sum(map(int, fields[f"cpu{number}"][3:5])) / tick for number in sorted(_mine()) if f"cpu{number}" in fields]


def _limited(threads: int | None, *, small: bool) -> tuple[ExitStack, int]:
    """Torch and numpy's library limited, what puts them back, and the number."""
    import torch
    from threadpoolctl import threadpool_limits

    before, undo = torch.get_num_threads(), ExitStack()
    number = 1 if small or before == 1 else min(before, free()) if threads is None else min(before, threads)
    undo.enter_context(threadpool_limits(1, user_api="blas"))  # OpenBLAS spins, and cannot be told not to
    if number != before:
        torch.set_num_threads(number)
    undo.callback(lambda: torch.set_num_threads(before) if torch.get_num_threads() != before else None)
    return undo, number
