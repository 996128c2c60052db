"""What a story is: commands or calls a newcomer makes, and what came of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.applications.mislabeled import Mislabeled


class Failed(Exception):  # noqa: N818
    """A command of a story failed, with what it said."""


class NotHere(Exception):  # noqa: N818, it is no error
    """Data or packages of a story are not there: it is skipped, with the reason."""


@dataclass(frozen=True)
class Told:
    """What came of a story."""

    story: str
    commands: int
    """Commands of the command line, or calls of the library."""
    seconds: float
    planted: int | None = None
    found: int | None = None
    """Of the planted facts."""
    accused: int | None = None
    """Right samples whose labels were called wrong."""
    withheld: bool | None = None
    """Whether suspects were not named because the network had learnt too little."""
    figures: str = ""
    """Others worth saying."""
    missed: tuple[str, ...] = ()
    """Targets that were not met."""


@dataclass(frozen=True)
class Skipped:
    """A story that could not be told."""

    story: str
    why: str


@dataclass(frozen=True)
class Story:
    """A name, and how it goes in a folder of its own; `small` in a size for tests."""

    name: str
    tell: Callable[[Setting], Iterable[Told]]


class Ended(Protocol):
    """What a command left: its exit code, and what it said."""

    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


@dataclass(frozen=True)
class _Process:
    code: int
    out: str
    err: str


def in_a_process(*arguments: Any) -> Ended:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "uniqueinfo.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return _Process(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Setting:
    """Where data lies and results go, and how commands are called."""

    data: Path | None
    work: Path
    small: bool = False
    call: Callable[..., Ended] = in_a_process

    def file(self, name: str) -> Path:
        """A file of the data folder."""
        if self.data is None or not (self.data / name).is_file():
            raise NotHere(f"{name} is not in the data folder; name it with --data")
        return self.data / name


@dataclass
class Shell:
    """The command line as a newcomer calls it."""

    setting: Setting
    commands: int = 0
    seconds: float = 0.0
    said: list[str] = field(default_factory=list)

    def __call__(self, *arguments: Any) -> str:
        started = time.perf_counter()
        done = self.setting.call(*arguments)
        self.seconds += time.perf_counter() - started
        self.commands += 1
        if done.code:
            raise Failed(f"uniqueinfo {' '.join(map(str, arguments))}: {done.err.strip()}")
        self.said.append(done.out)
        return done.out

    def json(self, *arguments: Any) -> Any:
        """The same for machines."""
        return json.loads(self(*arguments, "--json"))


def flips(labels: NDArray[Any], count: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Labels of which `count` were replaced by another class, and which."""
    rng = np.random.default_rng(seed)
    wrong = np.sort(rng.choice(len(labels), count, replace=False))
    classes = np.unique(labels)
    turned = labels.copy()
    at = np.searchsorted(classes, labels[wrong])
    turned[wrong] = classes[(at + rng.integers(1, len(classes), count)) % len(classes)]
    return turned, wrong


def judged(answer: Mislabeled, wrong: Iterable[Any]) -> tuple[int, int]:
    """How many of the planted ones are suspects, and how many suspects are not of them."""
    named, planted = {str(name) for name in answer.frame()["id"]}, {str(name) for name in wrong}
    return len(named & planted), len(named - planted)
