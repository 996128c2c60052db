"""How samples are cut into partitions: as large as is good for products, as small as the memory budget asks."""

from __future__ import annotations

from uniqueinfo.errors import InputError
from uniqueinfo.memory import as_text
from uniqueinfo.scoring.sources import Source
from uniqueinfo.spectrum.rows import CHUNK_BYTES

_SQUARES = 12  # D × D matrices held at once, at most: sums on their way up the tree, eigenvectors and their workspace
_PARTS = 4  # what a partition takes, in its own size: as read, in float64, in the eigenbasis, and what comes of it
_WHOLE = 2 * CHUNK_BYTES  # of a partition: from here on larger ones gain nothing
_LEAST = CHUNK_BYTES // 4  # below this, smaller ones lose: sums are sent about
_MANY = 32  # partitions, if there is enough to fill them: so that workers end at about the same time


def partition(source: Source, memory: int) -> int:
    """Samples in a partition."""
    fixed = 8 * _SQUARES * source.width**2 + 8 * CHUNK_BYTES
    room = memory - fixed
    each = 8 * source.per_sample * (source.width + 8 * source.columns)
    if room < _PARTS * each:
        raise InputError(
            f"memory: {as_text(memory)} do not hold matrices of {source.width:,} × {source.width:,}, which take about "
            f"{as_text(fixed)}; allow more, or project on fewer columns"
        )
    largest = min(room // _PARTS, _WHOLE) // each
    even = max(_LEAST // each, -(-source.samples // _MANY))
    return int(max(1, min(source.samples, largest, even)))


def slices(samples: int, size: int) -> list[slice]:
    """The partitions.

    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, samples)) for start in range(0, samples, size)]
