"""Every other command of the command line, on a finished run: options with odd values, folders that are none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import typer

import uniqueinfo as ui
from torture.calling import command, judged
from torture.flips import DATA, MEASURES, made
from torture.outcome import Ending, Outcome
from uniqueinfo.cli.app import app

ATTACKED_ELSEWHERE = {"score"}
LONG = {"demo", "reproduce", "review"}
"""They compute for minutes, or serve until they are stopped: only what they refuse is looked at."""
_PATHS = ("nowhere", "/dev/null", "/", "out.csv", "out.txt", "", "folder/out.csv", DATA, "run")
_WORDS = ("x", "é", "\x1b[2J", "=1+1", "label", "a,b", "9" * 400, "../..", "🙂", "margin", "cleanlab")
_NUMBERS = ("0", "1", "2", "-1", "0.5", "1.5", "10", "nan", "inf", "1e400", str(2**70), "-0.0")
_VALUES = (*_PATHS, *_WORDS, *_NUMBERS)


def attack(seed: int, count: int) -> Iterator[Outcome]:
    """So many commands; after each, the run is what it was."""
    known = commands()
    with tempfile.TemporaryDirectory() as home:
        whole = made(Path(home))
        wanted = _scores(whole)
        place = Path(home) / "here"
        for number in range(count):
            rng = np.random.default_rng([seed, number, 5])
            name = str(rng.choice(sorted(known)))
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            shutil.copytree(whole, place / "run")
            shutil.copy(Path(home) / DATA, place / DATA)
            yield _one(f"commands {seed}/{number}", name, drawn(known[name], rng, name in LONG), place, wanted)


def commands() -> dict[str, Any]:
    """As they are declared: one that is added is attacked too."""
    group: Any = typer.main.get_command(app)
    return {name: each for name, each in group.commands.items() if name not in ATTACKED_ELSEWHERE}


def drawn(declared: Any, rng: np.random.Generator, refused: bool) -> list[str]:
    """Arguments that are mostly fine, and a few options with values of any kind; one that is none where `refused`."""
    arguments, options = [], []
    for each in declared.params:
        if each.param_type_name == "argument":
            fine = {"run": "run", "inputs": DATA}.get(each.name, "x")
            arguments.append(fine if rng.random() < 0.8 else str(rng.choice(_PATHS)))
        elif each.name not in ("help", "version") and (each.required or rng.random() < 0.3):
            flag = str(rng.choice([*each.opts, *each.secondary_opts]))
            options += [flag] if each.is_flag else [flag, str(rng.choice(_VALUES))]
    return [*arguments, *options, *(["--no-such-option"] if refused else [])]


def _one(case: str, name: str, given: list[str], place: Path, wanted: dict[str, Any]) -> Outcome:
    with chdir(place):
        said = command(name, *given)
    told = f"{case}: {name} {' '.join(given)!r}"[:300]
    words = [word for part in given for word in (part, part.removeprefix("--"), part.lstrip("-").replace("-", "_"))]
    named = [name, "option", "argument", "column", "which sample", "run folder", *(word for word in words if word)]
    found = judged(told, said, named, lambda: "")
    if found.ending is not Ending.defect and (changed := _changed(place / "run", wanted)):
        return Outcome(told, Ending.defect, f"the run has other {', '.join(changed)}")
    return found


def _scores(run: Path) -> dict[str, Any]:
    scores = ui.everyone(ui.load(run))
    return {name: getattr(scores, name) for name in MEASURES}


def _changed(run: Path, wanted: dict[str, Any]) -> list[str]:
    found = _scores(run)
    return [name for name, values in wanted.items() if not np.array_equal(values, found[name], equal_nan=True)]
