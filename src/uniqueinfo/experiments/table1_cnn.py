"""Table 1's pretrained CNN on as many digits as the paper has, where `table1` at small scale has a fifth of them.

1000 + 1000 digits, of which 50 are left out in turn, along gradient flow of the paper's length, with weight decay: are
the two lines that `table1` misses there missed for want of samples? Chosen before any of these results.
"""

from __future__ import annotations

from dataclasses import replace

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, Effort

METHODS = ("linearization", "both ends", "recorded")
_EFFORT = Effort(left_out=50, influenced=0, lissa_batch=32, flow=True)
COLUMN = replace(
    COLUMNS[1],
    key="cnn_pretrained_whole",
    title="MNIST CNN, pretrained, 1000 digits",
    effort={"small": _EFFORT, "paper": _EFFORT},
    published="cnn_pretrained",
)


def run(request: Request) -> Result:
    """With weight decay alone, an hour of a processor: without it, no line is missed."""
    cell = compute(COLUMN, True, request, METHODS, asides=False)
    return tabled([cell], request, METHODS, timed=False)
