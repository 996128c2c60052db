"""The parts of the budget: what is measured beside what, and where it is kept."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uniqueinfo.store.files import replacing
from uniqueinfo.threads import allowed, free

_TURNS = 2  # the least of so many counts
_PATIENCE, _LONG = 600, 3600  # seconds after which a work has no answer, and one on photographs
BESIDE = ("nothing", "one niced", "one", "two")
WORKS = ("features", "network", "demo")
WAYS = ("as it is", "torch loaded first", "one thread")
SIZES = (50_000, 100_000, 200_000, 400_000)


@dataclass
class Record:
    """What was measured so far, in a file."""

    path: Path
    found: dict[str, dict[str, Any]]

    @classmethod
    def open(cls, path: Path, forget: Sequence[str] = ()) -> Record:
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return cls(path, {name: part for name, part in found.items() if name not in forget})

    def once(self, part: str, name: str, work: Callable[[], Any]) -> Any:
        """What a measurement gave, if it was taken before; else it is taken, and kept."""
        known = self.found.setdefault(part, {})
        if name not in known:
            known[name] = work()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as file:
                file.write_text(json.dumps(self.found, indent=2) + "\n", encoding="utf-8")
            print(f"{part}: {name}: {json.dumps(known[name])}", flush=True)
        return known[name]


def busy(record: Record) -> None:
    """Features, a network and the demo beside other processes: as it is, with torch loaded first, on one thread."""
    for work in WORKS:
        for way in WAYS:
            for beside in BESIDE:
                record.once("busy", f"{work}, {way}, {beside}", lambda: _beside(beside, work, way))  # noqa: B023


def features(record: Record) -> None:
    """200,000 × 256, ten outputs, run to the end, against one XᵀX; and against n."""
    for way in ("as it is", "one thread"):
        record.once("features", way, lambda: _child("narrow", way))  # noqa: B023
    for samples in SIZES:
        record.once("features", f"{samples} samples", lambda: _child("sized", "one thread", samples=samples))  # noqa: B023


def rescoring(record: Record) -> None:
    """Scoring what is left after removals, against scoring it from the start."""
    for number in range(3):
        record.once("rescoring", f"case {number}", lambda: _child("rescored", "one thread", number=number))  # noqa: B023


def photos(record: Record) -> None:
    """Photographs by whole networks, at the defaults, against one epoch of training on them."""
    from benchmarks.budget.photos import CASES  # late, as it loads torch, which only the measured need

    for number in range(len(CASES)):
        record.once("photos", f"case {number}", lambda: _child("photos", "as it is", _LONG, number=number))  # noqa: B023


def foretold(record: Record) -> None:
    """Commands of the documentation beside what `--dry-run` says of them."""
    from benchmarks.budget.foretold import COMMANDS  # late, as above

    for number in range(len(COMMANDS)):
        record.once("foretold", f"command {number}", lambda: _child("foretold", "as it is", number=number))  # noqa: B023


PARTS: dict[str, Callable[[Record], None]] = {
    "busy": busy,
    "features": features,
    "rescoring": rescoring,
    "photos": photos,
    "foretold": foretold,
}


def _beside(beside: str, work: str, way: str) -> dict[str, Any]:
    """The least time of a few turns; None where there was no answer."""
    quiet = free() == allowed()
    found: list[float] = []
    for _ in range(_TURNS):
        with _loops(beside):
            answer = _child(work, way)
        if answer is None:
            return {"seconds": None, "quiet": quiet}
        found.append(answer["seconds"])
    return {"seconds": min(found), "quiet": quiet}


@contextmanager
def _loops(beside: str) -> Iterator[None]:
    """Processes that do nothing, as fast as they can."""
    count = {"nothing": 0, "one niced": 1, "one": 1, "two": 2}[beside]
    command = [*(["nice", "-n", "10"] if "niced" in beside else []), sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command) for _ in range(count)]
    try:
        time.sleep(0.5)  # until they run
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _child(work: str, way: str, patience: int = _PATIENCE, **options: Any) -> dict[str, Any] | None:
    """What a work in a process of its own printed last; None where it took too long."""
    call = json.dumps({"work": work, "way": way, **options})
    command = [sys.executable, "-m", "benchmarks.budget.works", call]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
