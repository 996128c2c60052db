"""Table 1's CNN, pretrained and from scratch, on as many digits as the paper has: `table1` at small scale has a fifth.

1000 + 1000 digits, of which 50 are left out in turn, along gradient flow of the paper's length: are the two lines that
`table1` misses of the pretrained CNN with weight decay missed for want of samples? Chosen before any of these results;
that cell was computed first, and the other three later by the same settings. Of the 50, one moves the pretrained
network far more than the others do, so that ranks are told beside.
"""

from __future__ import annotations

from dataclasses import replace

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, Effort

METHODS = ("linearization", "both ends", "recorded")
_EFFORT = Effort(left_out=50, influenced=0, lissa_batch=32, flow=True)
CNNS = tuple(
    replace(
        column,
        key=f"{column.key}_whole",
        title=f"{column.title}, 1000 digits",
        effort={"small": _EFFORT, "paper": _EFFORT},
        published=column.key,
    )
    for column in COLUMNS
    if column.key in ("cnn_pretrained", "cnn")
)


def run(request: Request) -> Result:
    """Without weight decay, and with it: some twenty minutes of a processor for each of four cells."""
    cells = [
        compute(column, decay, request, METHODS, asides=False, rounding=True)
        for decay in (False, True)
        for column in CNNS
    ]
    return tabled(cells, request, METHODS, timed=False, ranked=True)
