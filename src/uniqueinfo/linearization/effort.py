"""How much work scores may take, and what is kept of a network for it.

Chosen once, by operations that are counted on one sample and a rate that is the same for every machine, never by a
clock: the same call keeps the same, wherever and however scores are computed or stored. The first that fits, from what
is closest to exact to what is cheapest:

    every weight, every output       kernels of nk rows, or all columns where these are fewer
    every weight, outputs alike      kernels of n rows (`OutputAverage`), for squared error
    some weights                     drawn where the kernel is (`KernelCoordinates`); outputs alike where they may be

Where passes through the network alone take longer, as many weights are kept as take hardly longer still.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.coordinates import KernelCoordinates
from uniqueinfo.jacobian.counting import Counted
from uniqueinfo.jacobian.outputs import OutputAverage, Outputs
from uniqueinfo.jacobian.passes import Look
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.memory import as_bytes, as_text
from uniqueinfo.progress import as_seconds, in_words
from uniqueinfo.removal.learning import Expected
from uniqueinfo.removal.loss_curve import DECAYS, TIMES
from uniqueinfo.removal.space import MOST_WEIGHTS
from uniqueinfo.samples.samples import Samples
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Auto, GradientFlow, Recorded, Training

Asked = Projection | None | Literal["auto"]

DEFAULT = "minutes"
EFFORTS = {"seconds": 10.0, "minutes": 100.0, "exact": math.inf}
"""Seconds that an effort may take on a machine of two cores."""
RATE = 4e10
"""Operations a second that a choice counts on. A machine that is twice as quick takes half the time for the same."""
MIXTURES = (16, 4, 1)
"""Of outputs, from which the kernel of outputs that are alike is made: as many as fit."""
COLUMNS = (32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500)
"""Weights that stand for all: as many as fit."""
_MOST_BYTES = 4 * 2**30  # of exact kernels where no budget is named: the choice never hangs on what happens to be free
_BESIDE = 512 * 2**20  # bytes of exact kernels beside themselves: columns, and room to multiply them
_DECOMPOSED = 10  # operations of an eigendecomposition, times the cube of its side
_HARDLY = 1.25  # times the cheapest way: as much more may be taken where that is too dear already
_FILTERS = 2 * 29 * 20  # of all stopping times, each of twenty poles


def seconds_of(effort: str) -> float:
    """What an effort may take: by its name, or as a time such as "2min".

    >>> seconds_of("minutes"), seconds_of("2min"), seconds_of("exact")
    (100.0, 120.0, inf)
    """
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    try:
        return as_seconds("effort", effort)
    except InputError as error:
        raise InputError(f'effort: expected "seconds", "minutes", "exact" or a time like "2min", got {effort!r}') from (
            error
        )


@dataclass(frozen=True)
class Kept:
    """What is kept of a network's Jacobian, and why."""

    projection: Projection | None
    why: str
    by_kernels: bool = False
    """Whether the Jacobian is never formed: exact kernels stand for it."""
    outputs: Outputs | None = None
    """What counts as outputs."""
    less: bool = False
    """Whether this is less than all, though nobody asked for it."""


@dataclass(frozen=True)
class Size:
    """Of a network with its samples."""

    samples: int
    others: int
    """Validation samples."""
    outputs: int
    """Rows of a sample."""
    counted: Counted

    @classmethod
    def of(cls, look: Look, train: Samples, val: Samples | None) -> Size:
        """By a first look."""
        return cls(len(train), 0 if val is None else len(val), look.outputs, look.counted)

    @property
    def rows(self) -> int:
        """nk."""
        return self.samples * self.outputs


@dataclass(frozen=True)
class Means:
    """What the user allows, and what there is to be done with it."""

    effort: str = DEFAULT
    memory: str | int | None = None
    form: Form = "auto"
    sketch: int | None = None
    training: Training | None = None
    """None: squared error."""
    alike: bool = False
    """Whether outputs may be taken to be alike."""

    @property
    def closed(self) -> bool:
        """Whether the training has a closed form."""
        return self.training is None or self.training.in_closed_form or isinstance(self.training, Recorded)

    @property
    def seconds(self) -> float:
        """How long it may take."""
        return seconds_of(self.effort)

    @property
    def bytes(self) -> int:
        """How much kernels may take."""
        return _MOST_BYTES if self.memory is None else as_bytes(self.memory)


@dataclass(frozen=True)
class _Way:
    """One way to scores, and what it takes."""

    kept: Kept
    operations: float
    bytes: int
    words: str


def choose_kept(asked: Asked, size: Size, means: Means, outputs: Outputs | None = None) -> Kept:
    """The first way that fits; what is asked for is done at any cost, and `None` as asked keeps every parameter.

    >>> from uniqueinfo.jacobian.counting import Weights
    >>> choose_kept("auto", Size(100, 50, 1, Counted((Weights(10_000),))), Means()).why
    'exact: kernels of 100 rows and 10,000 parameters'
    """
    chosen = isinstance(asked, str) and asked == "auto"
    if not chosen and (isinstance(asked, type | str | Tensor) or not isinstance(asked, Projection | None)):
        raise InputError(f'projection: expected one such as ui.RandomCoordinates(2000), None or "auto", got {asked!r}')
    if not isinstance(asked, str):
        kernels = asked is None and _may_kernels(size.rows, size, means)
        return Kept(asked, "asked for", by_kernels=kernels, outputs=outputs)
    ways = list(_ways(size, means, outputs))
    if math.isinf(means.seconds):
        return ways[0].kept
    allowed = _allowed(ways, means)
    found = next((way for way in ways if way.operations <= allowed and way.bytes <= means.bytes), ways[-1])
    if not found.kept.less:
        return found.kept
    return replace(found.kept, why=f"{found.words}: {_too_dear(ways[0], means)}")


def _allowed(ways: Sequence[_Way], means: Means) -> float:
    """Operations: what the effort allows, or hardly more than the cheapest way takes where that is more.

    The passes through a large network take nearly all of the time then, whatever is kept of them.
    """
    return max(RATE * means.seconds, _HARDLY * ways[-1].operations)


def whole_operations(size: Size, means: Means) -> float:
    """What takes everything into account."""
    return next(_whole(size, means, None)).operations


def _ways(size: Size, means: Means, outputs: Outputs | None) -> Iterator[_Way]:
    """From what is closest to exact to what is cheapest."""
    yield from _whole(size, means, outputs)
    averages = [OutputAverage(min(count, size.outputs)) for count in MIXTURES] if means.alike else []
    averages = list(dict.fromkeys(averages)) if size.outputs > 1 else []
    for average in averages:
        if _may_kernels(size.samples, size, means):
            words = "outputs taken to be alike, one row for each sample" + _of_mixtures(average, size)
            kept = Kept(None, "", by_kernels=True, outputs=average, less=True)
            yield _Way(kept, *_by_kernels(size, means, average), words)
    last = averages[-1] if averages else None
    for total in COLUMNS:
        if total < size.counted.parameters:
            words = f"{total:,} of {size.counted.parameters:,} weights stand for all, drawn where the kernel is"
            words += "" if last is None else ", and outputs are taken to be alike" + _of_mixtures(last, size)
            kept = Kept(KernelCoordinates(total), "", outputs=outputs if last is None else last, less=True)
            yield _Way(kept, _by_rows(size, means, total, last), 0, words)


def _whole(size: Size, means: Means, outputs: Outputs | None) -> Iterator[_Way]:
    """Nothing left out: by kernels, or by all columns where these are fewer, or where kernels do not fit in memory."""
    rows, others, parameters = size.rows, size.others * size.outputs, size.counted.parameters
    if _may_kernels(rows, size, means):
        why = f"exact: kernels of {rows:,} rows and {parameters:,} parameters"
        yield _Way(Kept(None, why, by_kernels=True, outputs=outputs), *_by_kernels(size, means, None), "exact kernels")
    why = f"exact: all {parameters:,} parameters"
    held = 4 * (rows + others) * parameters + 24 * min(rows, parameters) ** 2
    yield _Way(Kept(None, why, outputs=outputs), _by_rows(size, means, parameters, None), held, "all columns")


def _may_kernels(rows: int, size: Size, means: Means) -> bool:
    return means.form != "primal" and means.sketch is None and rows <= size.counted.parameters


def _by_kernels(size: Size, means: Means, average: OutputAverage | None) -> tuple[float, int]:
    """Operations and bytes of exact kernels."""
    n, m = size.samples, size.others
    each = size.outputs if average is None else 1
    side, others = n * each, m * each
    taken = size.outputs if average is None else average.size
    found = (n * n / 2 + n * m) * size.counted.kernel(taken, alike=average is not None)
    found += (n + m) * size.counted.passes(taken) + 2.0 * others * side**2 + _solved(size, means, side, side, each)
    return found, 8 * side * (side + others) + _BESIDE


def _by_rows(size: Size, means: Means, width: int, average: OutputAverage | None) -> float:
    """Operations with so many columns."""
    each = size.outputs if average is None else 1
    rows, others = size.samples * each, size.others * each
    width *= 1 if average is None else average.size
    taken = size.outputs if average is None else average.size
    found = (size.samples + size.others) * size.counted.passes(taken)
    if means.sketch is not None:
        return found + 8.0 * (rows + others) * width * means.sketch
    side = min(rows, width) if means.form == "auto" else rows if means.form == "dual" else width
    return found + 3.0 * (rows + others) * width * side + _solved(size, means, rows, side, each)


def _solved(size: Size, means: Means, rows: int, side: int, each: int) -> float:
    """The decomposition, and the samples left out: by stopping times, or by stretches of another loss."""
    if means.closed:
        return _DECOMPOSED * float(side) ** 3 + _FILTERS * float(rows) * side * (each + size.outputs)
    training = means.training
    assert training is not None
    if side > MOST_WEIGHTS:
        return math.inf
    looked = len(DECAYS) * (TIMES + 1) if isinstance(training, Auto) else 0
    chosen = GradientFlow(1.0, 1e3, loss=training.loss) if isinstance(training, Auto) else training
    times = looked + Expected.of(chosen, size.samples, side, size.outputs).decompositions
    return times * (_DECOMPOSED * float(side) ** 3 + 2.0 * rows * side**2)


def _of_mixtures(average: OutputAverage, size: Size) -> str:
    if average.size >= size.outputs:
        return ""
    return f" (by {average.size} mixture{'s' if average.size > 1 else ''} of {size.outputs:,})"


def _too_dear(whole: _Way, means: Means) -> str:
    if whole.operations <= RATE * means.seconds:
        return f"{whole.words} take {as_text(whole.bytes)} of the {as_text(means.bytes)} allowed"
    if math.isinf(whole.operations):
        return f"{whole.words} are too many: another loss than squared error is followed in {MOST_WEIGHTS:,} at most"
    taken = in_words(whole.operations / RATE)
    return f'{whole.words} would take about {taken}, more than effort="{means.effort}" allows'
