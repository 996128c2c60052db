"""Generated bad inputs for the command line: odd files, odd options, and both."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import numpy as np

from torture.calling import command, judged
from torture.files import MAKERS
from torture.options import drawn
from torture.outcome import Ending, Outcome
from uniqueinfo.runs.folder import Run
from uniqueinfo.scores.everyone import everyone


def attack(seed: int, count: int) -> Iterator[Outcome]:
    """So many commands; each is the same under the same seed and number."""
    for number in range(count):
        home = Path(tempfile.mkdtemp(prefix="torture-"))
        try:
            yield _one(home, np.random.default_rng([seed, number]), f"inputs {seed}/{number}")
        finally:
            shutil.rmtree(os.fsencode(home), ignore_errors=True)


def _one(home: Path, rng: np.random.Generator, name: str) -> Outcome:
    data = MAKERS[int(rng.integers(len(MAKERS)))](home, rng)
    options, out = drawn(rng), home / "run"
    with chdir(home):  # names such as nowhere.csv are looked for here
        said = command("score", data, *options, "--out", out)
    flags = [flag for flag in options if flag.startswith("--")]
    words = [flag.removeprefix("--") for flag in flags] + [flag.removeprefix("--").replace("-", "_") for flag in flags]
    named = [data.name, *flags, *words, "column", "class folder", "--training", *options]
    case = f"{name}: score {data.name} {' '.join(options)!r}"
    found = judged(case, said, [word for word in named if word], lambda: _wrong(out))
    if found.ending is Ending.refused and out.exists():
        return Outcome(case, Ending.defect, f"a refused call left its folder: {said.err.strip()[-300:]}")
    return found


def _wrong(out: Path) -> str:
    """What is wrong with scores that were given: numbers that are none, or rows that went without a word."""
    scores = everyone(Run.find(out).scores())
    for measure in ("weight", "functional", "value", "loo_outputs", "outputs"):
        values = getattr(scores, measure)
        if values is not None and scores.place is None and not np.isfinite(values).all():
            return f"{measure} holds NaN or infinity"
    return "" if len(scores) else "there are no scores"
