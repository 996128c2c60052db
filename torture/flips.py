"""One bit flipped in any file of a run: the scores are still the same, or it is said."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import uniqueinfo as ui
from torture.calling import called, command
from torture.outcome import Ending, Outcome
from uniqueinfo.review.decisions import NAME, Decision, Kind, Ledger, read
from uniqueinfo.scores.everyone import everyone

DATA = "data.csv"
MEASURES = ("weight", "functional", "value", "loo_outputs", "outputs", "targets")


def attack(seed: int, count: int) -> Iterator[Outcome]:
    """So many bits, each in a run of its own."""
    with tempfile.TemporaryDirectory() as home:
        whole = made(Path(home))
        files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
        wanted = _told(whole)
        for number in range(count):
            rng = np.random.default_rng([seed, number, 3])
            at = files[int(rng.integers(len(files)))]
            copy = Path(home) / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(whole, copy)
            content = bytearray((copy / at).read_bytes())
            place, bit = int(rng.integers(len(content))), int(rng.integers(8))
            content[place] ^= 1 << bit
            (copy / at).write_bytes(content)
            yield _one(f"flips {seed}/{number}: bit {bit} of byte {place} of {at}", copy, wanted)


def made(home: Path) -> Path:
    """A finished run, with samples held out, answers, a page and decisions."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    table = pd.DataFrame(rng.normal(size=(40, 4)) + y[:, None], columns=list("abcd")).assign(label=y)
    table.to_csv(home / DATA, index=False)
    for arguments in (
        ("score", home / DATA, "--model", "mlp:4", "--out", home / "run"),
        ("mislabeled", home / "run"),
        ("compare", home / "run", "--by", "label"),
    ):
        said = command(*arguments)
        assert said.code == 0, said.err
    whole = everyone(ui.load(home / "run"))
    assert whole.labels is not None
    told: list[tuple[Kind, str | None]] = [("keep", None), ("relabel", str(1 - int(whole.labels[1]))), ("drop", None)]
    Ledger(home / "run" / NAME).append(
        *(
            Decision(str(whole.names[at]), kind, given=str(whole.labels[at]), by="Ann", label=label)
            for at, (kind, label) in enumerate(told)
        )
    )
    return home / "run"


def _told(run: Path) -> dict[str, Any]:
    """All that is read of a run: its scores, and what a question that goes back to the network says."""
    scores = ui.load(run)
    every = ui.everyone(scores)
    found = {name: getattr(every, name) for name in MEASURES}
    decided = np.array([decision.line() for decision in read(run / NAME)])
    attributed = ui.attribute(scores, 1).change
    return found | {"attributed": attributed, "labels": every.labels, "ids": every.names, "decisions": decided}


def _one(case: str, run: Path, wanted: dict[str, Any]) -> Outcome:
    def wrong(found: dict[str, Any]) -> str:
        changed = [name for name, values in wanted.items() if not _same(values, found[name])]
        return f"other {', '.join(changed)}, and nobody said so" if changed else ""

    found = called(case, lambda: _told(run), wrong)
    if found.ending is Ending.defect:
        return found
    said = command("report", run)
    if said.code not in (0, 2):
        return Outcome(case, Ending.defect, f"report ended with {said.code}: {said.err[-300:]}")
    return found


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
