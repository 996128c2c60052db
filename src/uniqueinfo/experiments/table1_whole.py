"""Table 1's ResNet-18 with all of its layers trained, where `table1` trains the end of it alone.

40 + 40 photographs of 48 pixels, of which 20 are left out in turn, along gradient flow of the paper's length. This was
chosen from the time that one gradient takes (a minute of a processor for a training), before any agreement was seen;
LiSSA's batches of 8 too. ResNet-50 was measured: with as many photographs of 32 pixels its trainings take twice as
long, and were not begun.
"""

from __future__ import annotations

from dataclasses import replace

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, Effort, whole_resnet18

PIXELS = 48
METHODS = ("linearization", "both ends", "recorded", "influence")
_EFFORT = Effort(
    left_out=20,
    influenced=10,
    lissa_batch=8,
    flow=True,
    samples=40,
    scale=10_000.0,
    smaller=f"photos of {PIXELS} pixels, all layers trained",
)
COLUMN = replace(
    COLUMNS[2],
    key="resnet18_whole",
    title="cats/dogs ResNet-18, all layers",
    make=lambda request, count: whole_resnet18(request, count, PIXELS),
    effort={"small": _EFFORT, "paper": _EFFORT},
    published="resnet18",
)


def run(request: Request) -> Result:
    """Without weight decay, and with it."""
    cells = [compute(COLUMN, decay, request, METHODS, asides=False) for decay in (False, True)]
    return tabled(cells, request, METHODS, timed=False)
