"""Table 1's CNN from scratch by the paper's own steps, where `table1`, `table1_recorded` and `table1_cnn` follow flow.

Leaps along flow end near where the steps do, but rounding alone moves such a network by as much in them as leaving out
a sample does (`table1_cnn`); by plain steps it hardly moves it. 200 + 200 digits, of which 20 are left out, as in
`table1_recorded`: chosen before any of these results. The pretrained CNN is not here: the paper's rate is at the edge
of stability for it.
"""

from __future__ import annotations

from dataclasses import replace

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, Effort

METHODS = ("linearization", "both ends", "recorded")
_EFFORT = Effort(left_out=20, influenced=0, lissa_batch=32, samples=200)
COLUMN = next(
    replace(
        column,
        key="cnn_steps",
        title=f"{column.title}, the paper's steps",
        effort={"small": _EFFORT, "paper": _EFFORT},
        published=column.key,
    )
    for column in COLUMNS
    if column.fails_in_paper
)


def run(request: Request) -> Result:
    """Without weight decay, and with it: some ten minutes of a processor for both."""
    cells = [compute(COLUMN, decay, request, METHODS, asides=False, rounding=True) for decay in (False, True)]
    return tabled(cells, request, METHODS, timed=False, ranked=True)
