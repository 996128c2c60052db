"""Generated bad arguments for the functions of Python."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import uniqueinfo as ui
from torture.calling import called
from torture.faces import every_face
from torture.outcome import Outcome

ODD: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: True,
    lambda: -1,
    lambda: 0,
    lambda: 2**70,
    lambda: 1.5,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: "x",
    lambda: "",
    lambda: b"x",
    lambda: [],
    lambda: [None],
    lambda: {},
    lambda: {"a": 1},
    lambda: set(),
    lambda: object(),
    lambda: np.array(3.0),
    lambda: np.zeros((0, 2)),
    lambda: np.zeros((3, 3)) * 1j,
    lambda: np.full((30, 4), np.nan),
    lambda: np.zeros((30, 4), dtype=object),
    lambda: [[1], [1, 2]],
    lambda: np.array(["a", "b"] * 15),
    lambda: torch.zeros(30, 4),
    lambda: pd.DataFrame(np.eye(30)),
    lambda: pd.Series([1, 2]),
    lambda: nn.Linear(4, 1),
    lambda: ui.Converged,
    lambda: ui.Converged(0.1),
    lambda: ui.RandomCoordinates(3),
    lambda: Path("nowhere"),
    lambda: "nowhere.npy",
    lambda: (np.zeros((3, 4), np.float32), [0, 1, 0]),
    lambda: (1, 2, 3),
)


def attack(seed: int, count: int) -> Iterator[Outcome]:
    """So many calls with one or two arguments that are something else."""
    with tempfile.TemporaryDirectory() as home:
        faces = every_face(Path(home))
        for number in range(count):
            rng = np.random.default_rng([seed, number, 1])
            name = str(rng.choice(list(faces)))
            function, given = faces[name]
            changed = {
                str(each): int(rng.integers(len(ODD))) for each in rng.choice(list(given), size=int(rng.integers(1, 3)))
            }
            told = ", ".join(" ".join(f"{each}={ODD[at]()!r}".split())[:60] for each, at in changed.items())
            call = {**given, **{each: ODD[at]() for each, at in changed.items()}}
            with chdir(home):  # what is written to an odd place is written here
                outcome = called(f"calls {seed}/{number}: {name}({told})", partial(function, **call), _wrong)
            yield outcome


def _wrong(found: Any) -> str:
    if isinstance(found, ui.Scores) and not np.isfinite(found.weight).all():
        return "weight holds NaN or infinity"
    return ""
