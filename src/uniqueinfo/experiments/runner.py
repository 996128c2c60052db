"""Runs an experiment by name and keeps what it found: figures (PNG, SVG), a table (CSV), and figures.json."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.kept import work_folder
from uniqueinfo.experiments.registry import EXPERIMENTS
from uniqueinfo.scores.table import versions
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.store.files import replacing
from uniqueinfo.store.plain import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["small", "paper"]

NOT_RUN = "not run here"
"""What stands for a figure of ours where data or weights are not to be had."""


@dataclass(frozen=True)
class Request:
    """What is asked of an experiment."""

    scale: Scale = "small"
    data: Path | None = None
    """The folder of data sets, for those that read any."""
    seed: int = 0
    work: Path | None = None
    """A folder for what takes long and may be used again: Jacobian rows, features, retrained networks."""


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

    @classmethod
    def of(
        cls, what: str, found: Interval, *, paper: float | str | None = None, holds: bool | None = None, note: str = ""
    ) -> Claim:
        """A figure with its interval."""
        return cls(what, found.value, found.low, found.high, paper=paper, holds=holds, note=note)


@dataclass(frozen=True, eq=False)
class Result:
    """What an experiment found."""

    table: pd.DataFrame
    figures: Mapping[str, Figure]
    claims: list[Claim]
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the data sets read."""
    captions: Mapping[str, str] = field(default_factory=dict)
    """What each figure shows."""


def not_run(what: str, why: InputError, paper: float | str | None = None, data: Path | None = None) -> Claim:
    """What stands where data or weights are missing; results are shown elsewhere, so folders of here are not named."""
    note = str(why) if data is None else str(why).replace(str(data), "the data folder")
    return Claim(what, NOT_RUN, paper=paper, note=note)


def reproduce(name: str, request: Request, out: Path) -> Result:
    """Run an experiment and write what it found into out/name; what takes long is kept in out/work if nowhere else."""
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    if request.scale not in get_args(Scale):
        raise InputError(f'scale: expected "small" or "paper", got {request.scale!r}; choose one of them')
    experiment = import_module(f"uniqueinfo.experiments.{name}")
    work = out / "work" if request.work is None else request.work
    work_folder(work)  # refused before the experiment runs, which takes other refusals for missing data
    started = time.perf_counter()
    result: Result = experiment.run(replace(request, work=work))
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
        "what": EXPERIMENTS[name].what,
        "scale": request.scale,
        "seed": request.seed,
        "seconds": round(seconds, 1),
        "settings": {key: plain(value) for key, value in result.settings.items()},
        "data": dict(result.data),
        "figures": {figure: result.captions.get(figure, "") for figure in result.figures},
        "claims": [{key: plain(value) for key, value in asdict(claim).items()} for claim in result.claims],
        "versions": versions() | {"machine": platform.machine()},
    }
    with replacing(folder / "figures.json") as beside:
        beside.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
