"""Table 1: do scores agree with really training again? The linearized network, and influence functions.

For random left-out samples the network is trained again without each, and ½‖w − w₋ᵢ‖² and (1/2m) Σ_j ‖f − f₋ᵢ‖² on the
validation samples are compared by Pearson's correlation with the scores of both methods. Influence functions are
computed at the trained weights, by LiSSA with the paper's recursions, scale and damping (.01 without decay). *Both
ends* goes beyond the paper: gradients before and after training alike, as `score(trained=...)` takes them.
Intervals are bootstraps over left-out samples. Times are processor times of one thread; those of retraining, LiSSA and
conjugate gradients are for all n samples, extrapolated from the ones done. `table1_problems` has the settings, and
what is smaller than in the paper. The CNN from scratch is the paper's own failure, and is reported as it comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.table1_cells import Cell, compute
from uniqueinfo.experiments.table1_figure import figure
from uniqueinfo.experiments.table1_problems import COLUMNS, Column
from uniqueinfo.statistics.correlation import lead, pearson, spearman

_MEASURES, _METHODS = ("weights", "predictions"), ("linearization", "both ends", "influence")
_TIMES = {"linearization": "linearization", "both ends": "ends", "influence": "lissa"}
_MLP_AT_LEAST = 0.98
"""Correlation that the MLP without decay must reach."""
_BEYOND = "both ends: gradients before and after training, beyond the paper"
_FASTER = 30.0
"""How many times faster than LiSSA the paper claims to be."""


def run(request: Request) -> Result:
    """All columns but ResNet-50's, which `table1_resnet50` has."""
    return tabled(COLUMNS, request)


def tabled(columns: Sequence[Column], request: Request, timed: bool = True) -> Result:
    """Every cell in turn; what is finished is found again in the work folder. `timed`: whether times are told."""
    cells = [compute(column, decay, request) for decay in (False, True) for column in columns]
    return Result(
        table=pd.DataFrame([row for cell in cells for row in _rows(cell, request)]),
        figures={"table1": figure(cells)},
        claims=[claim for cell in cells for claim in _claims(cell, request, timed)],
        settings={_name(cell): _settings(cell, request, timed) for cell in cells},
        data={cell.column.key: cell.facts["data"] for cell in cells},
        captions={
            "table1": "Scores of left-out samples against really training again without them (above, λ = 0), and their "
            "correlations with 95 % bootstrap intervals; crosses are the paper's."
        },
    )


def _rows(cell: Cell, request: Request) -> list[dict[str, Any]]:
    found = []
    for measure in _MEASURES:
        for method in _METHODS:
            scores, truth = cell.pair(measure, method)
            linear, rank = pearson(scores, truth, seed=request.seed), spearman(scores, truth, seed=request.seed)
            found.append(
                {
                    "network": cell.column.title,
                    "lambda": 1000 if cell.decay else 0,
                    "measure": measure,
                    "method": method,
                    "pearson": linear.value,
                    "low": linear.low,
                    "high": linear.high,
                    "paper": cell.column.paper.get((measure, method, cell.decay)),
                    "spearman": rank.value,
                    "spearman_low": rank.low,
                    "spearman_high": rank.high,
                    "left_out": len(scores),
                    "samples": cell.facts["samples"],
                    "seconds_all": cell.seconds[_TIMES[method]],
                    "retraining_seconds_all": cell.seconds["retraining"],
                    "reduced": cell.column.effort[request.scale].reduced,
                }
            )
    return found


def _claims(cell: Cell, request: Request, timed: bool) -> list[Claim]:
    claims, seed = [], request.seed
    comparable = cell.column.key != "cnn"  # the published failure is reported as it comes out
    for measure in _MEASURES:
        for method in _METHODS:
            found = pearson(*cell.pair(measure, method), seed=seed)
            paper = cell.column.paper.get((measure, method, cell.decay))
            judged = method == "linearization" and paper is not None and comparable
            holds = found.high >= paper if judged and paper is not None else None
            claim = Claim.of(f"{_name(cell)}: {measure}, {method}", found, paper=paper, holds=holds)
            claims.append(replace(claim, note=_BEYOND) if method == "both ends" else claim)
            if cell.column.key == "mlp" and not cell.decay and method == "linearization":
                claims.append(
                    Claim.of(
                        f"{_name(cell)}: {measure} at least {_MLP_AT_LEAST}",
                        found,
                        paper=paper,
                        holds=found.value >= _MLP_AT_LEAST,
                    )
                )
        claims.append(_lead(cell, measure, seed))
    for what, name in (("lissa", "LiSSA"), ("gradients", "conjugate gradients")) if timed else ():
        ratio = cell.seconds[what] / cell.seconds["linearization"]
        holds = ratio >= _FASTER if what == "lissa" else ratio > 1
        note = f"processor time for all {cell.facts['samples']} samples, {name} extrapolated from those done"
        paper = _FASTER if what == "lissa" else None
        claims.append(Claim(f"{_name(cell)}: times faster than {name}", ratio, paper=paper, holds=holds, note=note))
    if cell.facts["astray"]:
        what = f"{_name(cell)}: trainings without a sample that went astray, of {len(cell.samples)}"
        note = "they ended more than a tenth of the way off: leaps along flow lost stability, which spoils this cell"
        claims.append(Claim(what, float(cell.facts["astray"]), holds=False, note=note))
    if "from_paper" in cell.facts:
        away = cell.facts["from_paper"]
        said = "diverges" if away is None else f"{away:.2%}"
        claims.append(Claim(f"{_name(cell)}: outputs away from those of the paper's own steps, of the way", said))
    return claims


def _lead(cell: Cell, measure: str, seed: int) -> Claim:
    """How much closer the linearization is than influence functions, on the same samples."""
    count = len(cell.influence[measure])
    truth, ours, theirs = (values[measure][:count] for values in (cell.truth, cell.linearization, cell.influence))
    found = lead(ours, theirs, truth, seed=seed)
    both = [cell.column.paper.get((measure, method, cell.decay)) for method in ("linearization", "influence")]
    paper = None if both[0] is None or both[1] is None else round(both[0] - both[1], 3)
    return Claim.of(
        f"{_name(cell)}: {measure}, linearization − influence",
        found,
        paper=paper,
        holds=found.value > 0 if paper is not None and paper > 0 else None,
    )


def _name(cell: Cell) -> str:
    return f"{cell.column.title}, λ = {'10³' if cell.decay else '0'}"


def _settings(cell: Cell, request: Request, timed: bool) -> dict[str, Any]:
    effort = cell.column.effort[request.scale]
    return {
        "training": cell.facts["training"],
        "batch": cell.facts["batch"],
        "samples": cell.facts["samples"],
        "left out": effort.left_out,
        "largest curvature": cell.facts["curvature"],
        "LiSSA": {
            "samples": effort.influenced,
            "recursions": cell.column.recursions,
            "batch": effort.lissa_batch,
            "scale": effort.scale,
        },
        "smaller": effort.smaller,
        "seconds for all samples": cell.seconds if timed else None,
    }
