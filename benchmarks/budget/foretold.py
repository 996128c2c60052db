"""Whether `--dry-run` foretells what a command takes: commands of the documentation, on real data, beside their plans.

    python -m benchmarks.budget --only foretold

Both run as a person runs them, Python's start and the page included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import FOLDER
from uniqueinfo.experiments.data import load

_PHOTOS, _REVIEWS = 300, 1000
_LOSS = ("--loss", "cross-entropy", "--training", "flow", "--lr", "0.1", "--steps", "300")


@dataclass(frozen=True)
class Command:
    """Arguments after `uniqueinfo score`, and what makes the data they name, in the working folder."""

    arguments: tuple[str, ...]
    data: Callable[[Path], None]

    @property
    def words(self) -> str:
        return " ".join(self.arguments)


def _digits(folder: Path) -> None:
    with np.load(FOLDER / "mnist_10c.npz") as arrays:
        X = arrays["x_train"].reshape(len(arrays["x_train"]), -1) / np.float32(255)
        np.savez(folder / "digits.npz", X=X, y=arrays["y_train"])


def _photos(folder: Path) -> None:
    part = load("cats_dogs", FOLDER)["train"].draw(_PHOTOS)
    for index in range(len(part)):
        place = folder / "photos" / ("cat", "dog")[part.labels[index]]
        place.mkdir(parents=True, exist_ok=True)
        part.inputs[index].save(place / f"{index:04d}.jpg")


def _customers(folder: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "churned"})
    table["vendor"] = np.where(np.arange(len(table)) % 3, "north", "south")
    table.to_csv(folder / "customers.csv", index=False)


def _reviews(folder: Path) -> None:
    lines = (FOLDER / "imdb_4000.jsonl").read_text(encoding="utf-8").split("\n")[:_REVIEWS]
    found = [json.loads(line) for line in lines]
    table = {"review": [each["t"] for each in found], "stars": [str(each["s"]) for each in found]}
    pd.DataFrame(table).to_csv(folder / "reviews.csv", index=False)


COMMANDS = (
    Command(("digits.npz",), _digits),
    Command(("digits.npz", "--model", "mlp:64"), _digits),
    Command(("digits.npz", "--model", "mlp:1024"), _digits),
    Command(("digits.npz", "--model", "mlp:64", "--effort", "seconds"), _digits),
    Command(("customers.csv", "--label", "churned", *_LOSS), _customers),
    Command(("photos",), _photos),
    Command(("customers.csv", "--label", "churned", "--extra", "vendor", "--fill", "median"), _customers),
    Command(("reviews.csv", "--label", "stars", "--text", "review"), _reviews),
)


def foretold(number: int) -> dict[str, Any]:
    """What the plan of a command says, and what the command then takes."""
    command = COMMANDS[number]
    with tempfile.TemporaryDirectory() as name:
        command.data(Path(name))
        plan = json.loads(_called(name, *command.arguments, "--dry-run", "--json")[0])["plan"]
        _, seconds, held = _called(name, *command.arguments)
    return {
        "command": command.words,
        "seconds": {"plan": plan["seconds"], "real": seconds},
        "bytes": {"plan": plan["memory_bytes"], "real": held},
    }


def _called(folder: str, *arguments: str) -> tuple[str, float, int]:
    """What the command prints, how long it takes, and the most memory it holds."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "uniqueinfo", "score", *arguments, "--out", "run"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"uniqueinfo score {' '.join(arguments)} failed")
    return said, time.perf_counter() - started, usage.ru_maxrss * 1024
