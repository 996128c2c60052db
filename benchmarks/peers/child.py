"""One method on one problem, in a process of its own: ``python -m benchmarks.peers.child MODULE:FUNCTION FOLDER OUT``.

The function takes a `Problem` and gives arrays by name, one number per training sample in each. It is called once on a
tiny problem before, so that what a library loads when first used is in no one's time or memory.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import time
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.memory import peak_of
from benchmarks.peers.problem import Problem

Found = Mapping[str, NDArray[Any]]
Method = Callable[[Problem], Found]

_CALLS, _QUICK = 3, 5.0
"""A method is called so often, unless the calls take more than so many seconds together."""
STARTING = 60
"""Processor seconds for imports and the first call, on top of the limit."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", help="module:function")
    parser.add_argument("problem", type=Path)
    parser.add_argument("out", type=Path, help="where report.json and scores.npz go")
    parser.add_argument("--seconds", type=int, required=True, help="of the processor, before it is stopped")
    parser.add_argument("--memory", type=int, required=True, help="bytes it may have")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (arguments.memory, arguments.memory))
    _stop_after(arguments.seconds + STARTING)
    torch.set_num_threads(1)
    report: dict[str, Any] = {}
    try:
        report, found = measured(arguments.method, Problem.load(arguments.problem), arguments.seconds)
        np.savez(arguments.out / "scores.npz", allow_pickle=False, **found)
    except Exception as error:  # whatever a peer raises is its result
        traceback.print_exc()
        report = {"error": _short(error)}
    (arguments.out / "report.json").write_text(json.dumps(report) + "\n", encoding="utf-8")


def measured(name: str, problem: Problem, limit: int) -> tuple[dict[str, Any], Found]:
    """Processor seconds of a call, the least of a few if it is quick; memory before, and at the peak of the first."""
    module, function = name.split(":")
    method: Method = getattr(import_module(module), function)
    with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):  # few samples may be too few
        method(problem.tiny())
    _stop_after(time.process_time() + limit)
    found: Found = {}
    taken: list[float] = []

    def work() -> None:
        nonlocal found
        started = time.process_time()
        found = method(problem)
        taken.append(time.process_time() - started)

    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    peak = peak_of(work)
    while len(taken) < _CALLS and sum(taken) < _QUICK:
        work()
    for key, scores in found.items():
        if scores.shape != (len(problem.X),) or not np.isfinite(scores).all():
            raise ValueError(f"{key}: {scores.shape} scores, {int((~np.isfinite(scores)).sum())} of them not finite")
    return {"seconds": min(taken), "peak": peak, "before": before}, found


def _stop_after(seconds: float) -> None:
    """The kernel ends this process once it has used so much of the processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, resource.RLIM_INFINITY))


def _short(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[0]}"[:200]


if __name__ == "__main__":
    main()
