"""Run one method on one problem in a process of its own; whatever becomes of it is a report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.child import STARTING

_ROOT = Path(__file__).parents[2]
_PATIENCE = 20
"""Seconds on the clock for one of the processor's: the machine may do other things, but a peer may not sleep."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Limits:
    """What a method may take."""

    seconds: int
    """Of the processor."""
    memory: int
    """Bytes of its process."""


def run(target: str, python: Path, problem: Path, out: Path, limits: Limits) -> dict[str, Any]:
    """Seconds and memory of `module:function`, its scores beside; or `error`, and whether it was too slow.

    The report is kept in the folder, and read from there the next time.
    """
    return run_child("benchmarks.peers.child", [target, str(problem)], python, out, limits)


def run_child(module: str, arguments: Sequence[str], python: Path, out: Path, limits: Limits) -> dict[str, Any]:
    """The same for any module that takes these arguments, the folder and `--seconds` and `--memory`."""
    path = out / "report.json"
    if path.is_file():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    out.mkdir(parents=True, exist_ok=True)
    command = [str(python), "-W", "ignore", "-m", module, *arguments, str(out)]
    command += ["--seconds", str(limits.seconds), "--memory", str(limits.memory)]
    paths = os.pathsep.join((str(_ROOT / "src"), str(_ROOT)))
    environment = os.environ | dict.fromkeys(_THREADS, "1") | {"PYTHONPATH": paths}
    with (out / "log.txt").open("w", encoding="utf-8") as log:
        try:
            code = subprocess.run(
                command,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=out,
                timeout=_PATIENCE * limits.seconds + STARTING,
                check=False,
            ).returncode
            ended = _ended(code, limits)
        except subprocess.TimeoutExpired as late:
            ended = {"error": f"not at an end after {late.timeout:.0f} s on the clock", "slow": True}
    if not path.is_file():
        path.write_text(json.dumps(ended) + "\n", encoding="utf-8")
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def _ended(code: int, limits: Limits) -> dict[str, Any]:
    """A process that left no report was ended from outside."""
    if code == -signal.SIGXCPU:
        return {"error": f"over {limits.seconds} s", "slow": True}
    if code < 0:
        return {"error": f"ended by {signal.Signals(-code).name} (memory: {limits.memory / 2**30:.3g} GiB)"}
    return {"error": f"ended with code {code}"}
