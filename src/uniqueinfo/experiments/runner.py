"""Runs an experiment by name and keeps what it found: figures (PNG, SVG), a table (CSV), and figures.json.

An experiment is a module here with a function ``run(request) -> Result``; EXPERIMENTS names them all.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from uniqueinfo.errors import InputError
from uniqueinfo.files import replacing
from uniqueinfo.scores import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["small", "paper"]

EXPERIMENTS = {
    "bound": "I(W; z_i | S₋ᵢ) and its bound KL(p(w|S) ‖ p(w|S₋ᵢ)) on a toy problem",
    "steadystate": "simulated SGD and its continuous limit against the Lyapunov equation",
}


@dataclass(frozen=True)
class Request:
    """What is asked of an experiment."""

    scale: Scale = "small"
    data: Path | None = None
    """The folder of data sets, for those that read any."""
    seed: int = 0


@dataclass(frozen=True)
class Claim:
    """One figure of ours beside the paper's, and whether what is claimed holds (None: there is nothing to hold)."""

    what: str
    ours: float | str
    low: float | None = None
    high: float | None = None
    paper: float | str | None = None
    holds: bool | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """What an experiment found."""

    table: pd.DataFrame
    figures: Mapping[str, Figure]
    claims: list[Claim]
    settings: Mapping[str, Any] = field(default_factory=dict)


def reproduce(name: str, request: Request, out: Path) -> Result:
    """Run an experiment and write what it found into out/name."""
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    if request.scale not in get_args(Scale):
        raise InputError(f'scale: expected "small" or "paper", got {request.scale!r}')
    try:
        experiment = import_module(f"uniqueinfo.experiments.{name}")
    except ModuleNotFoundError as missing:
        raise InputError(f"{name} needs {missing.name}: pip install 'uniqueinfo'") from missing
    started = time.perf_counter()
    result: Result = experiment.run(request)
    seconds = time.perf_counter() - started
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, name, request, result, seconds)
    return result


def _write(folder: Path, name: str, request: Request, result: Result, seconds: float) -> None:
    from matplotlib import rc_context

    for figure_name, figure in result.figures.items():
        with rc_context({"svg.hashsalt": name}):  # the same figure gives the same file
            for ending, extra in (("png", {"dpi": 150}), ("svg", {"metadata": {"Date": None}})):
                with replacing(folder / f"{figure_name}.{ending}") as beside:
                    figure.savefig(beside, format=ending, **extra)
    with replacing(folder / "table.csv") as beside:
        result.table.to_csv(beside, index=False, float_format="%.6g")
    found = {
        "experiment": name,
        "what": EXPERIMENTS[name],
        "scale": request.scale,
        "seed": request.seed,
        "seconds": round(seconds, 1),
        "settings": dict(result.settings),
        "claims": [asdict(claim) for claim in result.claims],
        "versions": versions() | {"machine": platform.machine()},
    }
    with replacing(folder / "figures.json") as beside:
        beside.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
