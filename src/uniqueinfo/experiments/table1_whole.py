"""Table 1's ResNet-18 with all of its layers trained, where `table1` trains the end of it alone.

40 + 40 photographs of 48 pixels, of which 20 are left out in turn, along gradient flow of the paper's length. This was
chosen from the time that one gradient takes (a minute of a processor for a training), before any agreement was seen;
LiSSA's batches of 8 too. `table1_whole_resnet50` does the same with ResNet-50.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import COLUMNS, Column, Effort, Problem, whole_resnet18

PIXELS = 48
METHODS = ("linearization", "both ends", "recorded", "influence")


def whole(column: Column, title: str, pixels: int, make: Callable[[Request, int | None, int], Problem]) -> Column:
    """A column of photographs, with all layers trained."""
    effort = Effort(
        left_out=20,
        influenced=10,
        lissa_batch=8,
        flow=True,
        samples=40,
        scale=10_000.0,
        smaller=f"photos of {pixels} pixels, all layers trained",
    )
    return replace(
        column,
        key=f"{column.key}_whole",
        title=title,
        make=lambda request, count: make(request, count, pixels),
        effort={"small": effort, "paper": effort},
        published=column.key,
    )


COLUMN = whole(COLUMNS[2], "cats/dogs ResNet-18, all layers", PIXELS, whole_resnet18)


def run(request: Request) -> Result:
    """Without weight decay, and with it."""
    return both(COLUMN, request)


def both(column: Column, request: Request) -> Result:
    """The cells of a column."""
    cells = [compute(column, decay, request, METHODS, asides=False) for decay in (False, True)]
    return tabled(cells, request, METHODS, timed=False)
