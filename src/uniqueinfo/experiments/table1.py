"""Table 1: do scores agree with really training again? The linearized network, and influence functions.

For random left-out samples the network is trained again without each, and ½‖w − w₋ᵢ‖² and (1/2m) Σ_j ‖f − f₋ᵢ‖² on the
validation samples are compared by Pearson's correlation with the scores of both methods. Influence functions are
computed at the trained weights, by LiSSA with the paper's recursions, scale and damping (.01 without decay). *Both
ends* goes beyond the paper: gradients before and after training alike, as `score(trained=...)` takes them; *recorded*,
where it is asked for, follows the training along its recording (`table1_recorded_scores`).
Intervals are bootstraps over left-out samples. Times are processor times of one thread; those of retraining, LiSSA and
conjugate gradients are for all n samples, extrapolated from the ones done. `table1_problems` has the settings, and
what is smaller than in the paper. The CNN from scratch is the paper's own failure, and is reported as it comes out;
`table1_steps` follows it more truly than leaps along flow do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.table1_cells import MEASURES, METHODS, Cell, compute
from uniqueinfo.experiments.table1_figure import figure
from uniqueinfo.experiments.table1_problems import COLUMNS
from uniqueinfo.statistics.correlation import lead, pearson, spearman

_TIMES = {"linearization": "linearization", "both ends": "ends", "influence": "lissa", "recorded": "recorded"}
_MLP_AT_LEAST = 0.98
"""Correlation that the MLP without decay must reach."""
_BEYOND = {
    "both ends": "both ends: gradients before and after training, beyond the paper",
    "recorded": "along a recording of the training, beyond the paper; holds if it reaches what the paper's "
    "linearization has",
}
_JUDGED = ("linearization", "recorded")
"""Methods that are held against what the paper's linearization has."""
_FASTER = 30.0
"""How many times faster than LiSSA the paper claims to be."""


def run(request: Request) -> Result:
    """All columns but ResNet-50's, which `table1_resnet50` has."""
    return tabled([compute(column, decay, request) for decay in (False, True) for column in COLUMNS], request)


def tabled(
    cells: Sequence[Cell],
    request: Request,
    methods: Sequence[str] = METHODS,
    *,
    judged: Sequence[str] = _JUDGED,
    timed: bool = True,
    ranked: bool = False,
) -> Result:
    """The table of these cells, by some methods.

    `judged` are those that have to hold. `timed`: whether times are told. `ranked`: whether Spearman's correlations
    are told beside Pearson's, which few samples may decide.
    """
    return Result(
        table=pd.DataFrame([row for cell in cells for row in _rows(cell, request, methods)]),
        figures={"table1": figure(cells, methods)},
        claims=[
            claim
            for cell in cells
            for claim in _claims(cell, request.seed, methods, judged, timed)
            + (_by_ranks(cell, request.seed, methods) if ranked else [])
        ],
        settings={_name(cell): _settings(cell, request, timed) for cell in cells},
        data={cell.column.key: cell.facts["data"] for cell in cells},
        captions={
            "table1": "Scores of left-out samples against really training again without them (above, λ = "
            f"{'10³' if all(cell.decay for cell in cells) else 0}), and their correlations with 95 % bootstrap "
            "intervals; crosses are the paper's."
        },
    )


def _rows(cell: Cell, request: Request, methods: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for measure in MEASURES:
        for method in methods:
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


def _claims(cell: Cell, seed: int, methods: Sequence[str], judged: Sequence[str], timed: bool) -> list[Claim]:
    claims = []
    for measure in MEASURES:
        for method in methods:
            found = pearson(*cell.pair(measure, method), seed=seed)
            paper, bound = (cell.column.paper.get((measure, of, cell.decay)) for of in (method, "linearization"))
            holds = None
            if bound is not None and not cell.column.fails_in_paper and method in judged:
                holds = (found.value if method == "recorded" else found.high) >= bound
            note = _BEYOND.get(method, "")
            claims.append(Claim.of(f"{_name(cell)}: {measure}, {method}", found, paper=paper, holds=holds, note=note))
            if cell.column.key == "mlp" and not cell.decay and method == "linearization" and method in judged:
                claims.append(
                    Claim.of(
                        f"{_name(cell)}: {measure} at least {_MLP_AT_LEAST}",
                        found,
                        paper=paper,
                        holds=found.value >= _MLP_AT_LEAST,
                    )
                )
        if "influence" in methods:
            claims.append(_lead(cell, measure, seed))
    for what, name in (("lissa", "LiSSA"), ("gradients", "conjugate gradients")) if timed else ():
        ratio = cell.seconds[what] / cell.seconds["linearization"]
        holds = ratio >= _FASTER if what == "lissa" else ratio > 1
        note = f"processor time for all {cell.facts['samples']} samples, {name} extrapolated from those done"
        paper = _FASTER if what == "lissa" else None
        claims.append(Claim(f"{_name(cell)}: times faster than {name}", ratio, paper=paper, holds=holds, note=note))
    if cell.facts["astray"]:
        what = f"{_name(cell)}: trainings without a sample that went astray, of {len(cell.samples)}"
        note = "they ended far off, as nothing foretold: leaps along flow lost stability, which spoils this cell"
        claims.append(Claim(what, float(cell.facts["astray"]), holds=False, note=note))
    for measure, apart in cell.facts.get("rounding", {}).items():
        ratio = apart / float(np.median(cell.truth[measure]))
        note = "the training with all samples, done twice with its samples in another order, which changes rounding "
        note += "alone: how far apart both end, beside the median sample's leaving"
        claims.append(Claim(f"{_name(cell)}: {measure}, rounding alone beside the median truth", ratio, note=note))
    if "from_paper" in cell.facts:
        away = cell.facts["from_paper"]
        said = "diverges" if away is None else f"{away:.2%}"
        claims.append(Claim(f"{_name(cell)}: outputs away from those of the paper's own steps, of the way", said))
    return claims


def _by_ranks(cell: Cell, seed: int, methods: Sequence[str]) -> list[Claim]:
    note = "Spearman's correlation, beyond the paper"
    return [
        Claim.of(
            f"{_name(cell)}: {measure}, {method}, by ranks", spearman(*cell.pair(measure, method), seed=seed), note=note
        )
        for measure in MEASURES
        for method in methods
    ]


def _lead(cell: Cell, measure: str, seed: int) -> Claim:
    """How much closer the linearization is than influence functions, on the same samples."""
    theirs, truth = cell.pair(measure, "influence")
    ours = cell.scores["linearization"][measure][: len(theirs)]
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
        }
        if "influence" in cell.scores
        else None,
        "smaller": effort.smaller,
        "seconds for all samples": cell.seconds if timed else None,
    }
