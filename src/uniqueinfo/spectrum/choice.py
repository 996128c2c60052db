"""Which form a problem is solved in, and why: said before the work and kept with the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from uniqueinfo.errors import InputError

Form = Literal["auto", "dual", "primal"]

LARGEST = 20_000
"""Side of the largest matrix that is decomposed unless asked for: 10 GB and hours on two cores, and twice the side
takes eight times as long."""
DIRECTIONS = 2_000
"""Directions that a sketch keeps exactly where nobody said how many."""


@dataclass(frozen=True)
class Choice:
    """A form, the side of the matrix whose eigenvalues it takes, and the reason.

    Where the steps of a training are taken again nothing is decomposed, and the side is that of the weights followed.
    """

    form: Literal["dual", "primal", "sketch", "steps"]
    side: int
    why: str


def choose(rows: int, width: int | None, form: Form = "auto", sketch: int | None = None) -> Choice:
    """The cheapest form for this many rows (nk) and columns (D; None where there is only a kernel).

    >>> choose(1_000, 50_000)
    Choice(form='dual', side=1000, why='there are fewer rows (nk = 1,000) than columns (D = 50,000)')
    >>> choose(600_000, 30_000).form, choose(600_000, 30_000).side
    ('sketch', 2000)
    """
    if form not in ("auto", "dual", "primal"):
        raise InputError(f'form: expected "auto", "dual" or "primal", got {form!r}')
    if sketch is not None:
        return _asked(rows, width, form, sketch)
    if width is None:
        return Choice("dual", rows, "only the kernel is known, not the rows it was made of")
    if form != "auto":
        return Choice(form, rows if form == "dual" else width, "asked for")
    if min(rows, width) > LARGEST:
        return Choice(
            "sketch",
            DIRECTIONS,
            f"rows (nk = {rows:,}) and columns (D = {width:,}) are both more than {LARGEST:,}, so {DIRECTIONS:,} "
            "directions are kept exactly and one curvature stands for the others; every score comes with an estimate "
            'of its error (form="primal" or "dual" is exact, and takes hours)',
        )
    if rows <= width:
        return Choice("dual", rows, f"there are fewer rows (nk = {rows:,}) than columns (D = {width:,})")
    return Choice("primal", width, f"there are fewer columns (D = {width:,}) than rows (nk = {rows:,})")


def _asked(rows: int, width: int | None, form: Form, sketch: int) -> Choice:
    if form != "auto":
        raise InputError(f'sketch: is a form of its own; drop form="{form}" or sketch={sketch}')
    if width is None:
        raise InputError("sketch: needs Jacobian rows or features, and here only the kernel is known; drop sketch")
    most = min(rows, width)
    if isinstance(sketch, bool) or not isinstance(sketch, int) or not 1 <= sketch < most:
        raise InputError(
            f"sketch: expected how many directions to keep, at least 1 and fewer than {most:,} (of {rows:,} rows and "
            f"{width:,} columns), got {sketch!r}; without sketch all are kept"
        )
    return Choice("sketch", sketch, "asked for; every score comes with an estimate of its error")
