"""Runs that are killed: before a file takes its place, just after, or while half of it is written.

The same call then goes on, and must end with the bytes of a run that was let alone. Children are forked, so that torch
is imported once; they have one thread.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import uniqueinfo as ui
from torture.outcome import Ending, Outcome
from uniqueinfo.scoring import cut

KINDS = ("features", "rows", "kernels")
WAYS = ("before", "after", "half")
_MOMENTS = 12  # about as many files as the longest of these runs writes


def attack(seed: int, cases: int) -> Iterator[Outcome]:
    """So many kills."""
    with tempfile.TemporaryDirectory() as home:
        whole = {}
        for kind in KINDS:
            assert in_a_child(kind, Path(home) / kind) == 0
            whole[kind] = contents(Path(home) / kind)
        for number in range(cases):
            rng = np.random.default_rng([seed, number, 2])
            kind, way, moment = str(rng.choice(KINDS)), str(rng.choice(WAYS)), int(rng.integers(1, _MOMENTS + 1))
            case = f"crashes {seed}/{number}: {kind}, {way} file {moment}"
            yield _one(Path(home) / "killed", case, Kill(kind, way, moment), whole[kind])


@dataclass(frozen=True)
class Kill:
    kind: str
    way: str
    moment: int
    """At which file."""


def _one(out: Path, case: str, kill: Kill, whole: dict[str, bytes]) -> Outcome:
    shutil.rmtree(out, ignore_errors=True)
    killed = in_a_child(kill.kind, out, kill) != 0
    code = in_a_child(kill.kind, out)
    if code:
        return Outcome(case, Ending.defect, f"the same call ended with {code}")
    found = contents(out)
    differing = sorted(name for name in {*found, *whole} if found.get(name) != whole.get(name))
    if differing:
        return Outcome(case, Ending.defect, f"other bytes in {', '.join(differing)}")
    return Outcome(case, Ending.resumed if killed else Ending.right)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def in_a_child(kind: str, out: Path, kill: Kill | None = None) -> int:
    """The exit code of a run, which is killed at the given moment."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 (the child ends here)
        if kill is not None:
            _arm(kill)
        run(kind, out)
        code = 0
    finally:
        os._exit(code)


def _arm(kill: Kill) -> None:
    replaced, written = count(1), count(1)
    replace, write_bytes = Path.replace, Path.write_bytes
    die = partial(os.kill, os.getpid(), signal.SIGKILL)

    def replacing(self: Path, target: Any) -> Path:
        now = kill.way != "half" and next(replaced) == kill.moment
        if now and kill.way == "before":
            die()
        found = replace(self, target)
        if now:
            die()
        return found

    def writing(self: Path, data: Any) -> int:
        if kill.way == "half" and next(written) == kill.moment:
            write_bytes(self, bytes(data)[: len(data) // 2])
            die()
        return write_bytes(self, data)

    Path.replace = replacing  # type: ignore[method-assign, assignment]
    Path.write_bytes = writing  # type: ignore[method-assign]


def run(kind: str, out: Path) -> None:
    cut._WHOLE = 16 * 1024
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    if kind == "features":
        X, y = rng.normal(size=(200, 8)), rng.integers(0, 3, 200)
        ui.score_features(X, y, X[:30], y[:30], training=ui.Converged(0.1), out=out, progress=False)
        return
    torch.manual_seed(0)
    hidden = 6 if kind == "rows" else 30
    model = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 3))
    train = (rng.normal(size=(30, 4)).astype(np.float32), np.arange(30) % 3)
    asked: dict[str, Any] = {"projection": ui.RandomCoordinates(10_000), "keep": True} if kind == "rows" else {}
    ui.score(model, train, train, training=ui.Converged(0.1), out=out, progress=False, **asked)
