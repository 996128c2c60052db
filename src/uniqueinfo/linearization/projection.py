"""How a network's Jacobian is projected: chosen once, by the sizes, the same however scores are stored or computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.passes import Look
from uniqueinfo.jacobian.projections import Factorized, Projection
from uniqueinfo.memory import as_bytes, as_text
from uniqueinfo.samples.samples import Samples
from uniqueinfo.spectrum.choice import Form

Asked = Projection | None | Literal["auto"]

DEFAULT_PROJECTION = Factorized(2000)
"""Where exact kernels are too dear: at the same width and cost it ranks samples better than random coordinates."""
_MOST_ROWS = 5_000  # of an exact kernel, whose eigendecomposition grows with their cube
_MOST_PRODUCTS = 1e13  # operations an exact kernel may take: about a minute
_MOST_BYTES = 4 * 2**30  # of exact kernels where no budget is named: the choice never hangs on what happens to be free
_BESIDE = 512 * 2**20  # bytes of exact kernels beside themselves: columns, and room to multiply them


@dataclass(frozen=True)
class Projected:
    """How the Jacobian is projected, and why."""

    projection: Projection | None
    why: str
    by_kernels: bool = False
    """Whether the Jacobian is never formed: exact kernels stand for it."""


@dataclass(frozen=True)
class Size:
    """Of a network's whole Jacobian."""

    rows: int
    """nk, of the training samples."""
    others: int
    """mk, of the validation samples."""
    parameters: int


def choose_projection(
    asked: Asked, size: Size, *, memory: str | int | None = None, form: Form = "auto", sketch: int | None = None
) -> Projected:
    """Every parameter where that is cheap, else a projection; `None` as asked keeps every parameter at any cost.

    >>> choose_projection("auto", Size(rows=100, others=50, parameters=10_000)).why
    'exact: kernels of 100 rows and 10,000 parameters are cheap'
    """
    kernels = form != "primal" and sketch is None and size.rows <= size.parameters
    chosen = isinstance(asked, str) and asked == "auto"
    if not chosen and (isinstance(asked, type | str) or not isinstance(asked, Projection | None)):
        raise InputError(f'projection: expected one such as ui.RandomCoordinates(2000), None or "auto", got {asked!r}')
    if not isinstance(asked, str):
        return Projected(asked, "asked for", by_kernels=asked is None and kernels)
    if sketch is not None:
        return Projected(DEFAULT_PROJECTION, "projected: a sketch needs rows, and all parameters are too wide")
    both = size.rows + size.others
    most = _MOST_BYTES if memory is None else as_bytes(memory)
    dear = {
        f"{size.rows:,} rows (nk) are more than {_MOST_ROWS:,}": size.rows > _MOST_ROWS,
        f"{size.rows:,} rows of {size.parameters:,} parameters take more than about a minute": (
            2 * size.rows * both * size.parameters > _MOST_PRODUCTS
        ),
        f"they take {as_text(8 * size.rows * both + _BESIDE)} of the {as_text(most)} allowed": (
            8 * size.rows * both + _BESIDE > most
        ),
    }
    reasons = [reason for reason, holds in dear.items() if holds]
    if reasons:
        return Projected(DEFAULT_PROJECTION, f"projected: exact kernels are too dear, {reasons[0]}")
    why = f"exact: kernels of {size.rows:,} rows and {size.parameters:,} parameters are cheap"
    return Projected(None, why, by_kernels=kernels)


def size_of(look: Look, train: Samples, val: Samples | None) -> Size:
    """Of the whole Jacobian."""
    return Size(look.outputs * len(train), 0 if val is None else look.outputs * len(val), look.parameters)
