"""Table 1 by a third method, beyond the paper: scores along a recording of the training (`table1_recorded_scores`).

The columns are `table1`'s, at its small scale, but with 20 samples left out; ResNet-18 is `table1_whole`'s, with all
layers trained. Linearization and both ends stand beside, on the same samples; whether the paper's claims hold of these
is for `table1` to say, which leaves out more. Sizes and checkpoints were chosen before any of these results; how
outputs go between checkpoints, on ResNet-50 without decay and on made-up networks.
"""

from __future__ import annotations

from dataclasses import replace

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, RESNET50, Column

METHODS = ("linearization", "both ends", "recorded")
_KEYS, _LEFT_OUT = ("mlp", "cnn_pretrained", "cnn", "resnet50"), 20


def run(request: Request) -> Result:
    """Every column without weight decay, and with it."""
    columns = [_fewer(column) for column in (*COLUMNS, RESNET50) if column.key in _KEYS]
    cells = [compute(column, decay, request, METHODS, asides=False) for decay in (False, True) for column in columns]
    return tabled(cells, request, METHODS, judged=("recorded",), timed=False)


def _fewer(column: Column) -> Column:
    """With fewer samples left out, as many at both scales."""
    effort = replace(column.effort["small"], left_out=_LEFT_OUT, influenced=0)
    return replace(column, effort={"small": effort, "paper": effort})
