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
        faces = _faces(Path(home))
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


def _faces(home: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Public functions with arguments that are fine."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = (X[:, 0] > 0).astype(int)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    data = (X.astype(np.float32), y)
    training = ui.Converged(0.1)
    where: dict[str, Any] = {"memory": None, "device": None, "form": "auto", "sketch": None, "engine": None}
    table: dict[str, Any] = {"ids": None, "columns": None, "effects": 0, "smoothing": None}
    scores = ui.score_features(X, y, X, y, training=training, progress=False)
    linearization = ui.linearize(model, data, data, progress=False)
    run = linearization.train(ui.GradientFlow(0.1, 5.0))
    given = {"X": X, "y": y, "X_val": X, "y_val": y, "head": "balanced", "classes": None}
    rows = {"J": X[:, None], "residual": y[:, None] - 0.5, "J_val": X[:, None]}
    network = {"model": model, "train": data, "val": data, "projection": None, "outputs": None, "trained": None}
    steps = {"lr": 0.1, "steps": 10, "momentum": 0.0, "weight_decay": 0.0, "loss": "mse", "reduction": "mean"}
    common = {"training": training, **where, **table}
    plain = {"model": model, "train": data, "val": data, "projection": "auto", "form": "auto"}
    return {
        "score_features": (partial(ui.score_features, progress=False), {**given, **common}),
        "score_jacobian": (partial(ui.score_jacobian, progress=False), {**rows, **common}),
        "score": (partial(ui.score, progress=False), {**network, **common}),
        "linearize": (partial(ui.linearize, progress=False), plain),
        "GradientDescent": (ui.GradientDescent, steps),
        "GradientFlow": (ui.GradientFlow, {"lr": 0.1, "time": 10.0, "weight_decay": 0.0}),
        "Converged": (ui.Converged, {"weight_decay": 0.1, "loss": "mse", "reduction": "sum"}),
        "RandomCoordinates": (ui.RandomCoordinates, {"per_layer": 4, "seed": 0}),
        "leave_out": (run.leave_out, {"groups": [[0, 1], [2]]}),
        "mislabeled": (ui.mislabeled, {"scores": scores, "criterion": "margin", "noise_rate": None}),
        "compare": (ui.compare, {"scores": scores, "by": "label", "seed": 0, "resamples": 20}),
        "attribute": (ui.attribute, {"scores": scores, "sample": 1, "top": 3, "output": None}),
        "summarize": (ui.summarize, {"scores": scores, "keep": 0.5}),
        "redundancy": (ui.redundancy, {"scores": scores, "near": 0.01, "most": 10}),
        "load": (ui.load, {"folder": home / "nowhere"}),
        "save": (scores.save, {"folder": home / "saved"}),
        "report": (ui.report, {"scores": scores, "path": home / "page.html"}),
    }
