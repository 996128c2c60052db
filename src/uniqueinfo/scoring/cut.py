"""How samples are cut into partitions: as large as is good for products, as small as the memory budget asks."""

from __future__ import annotations

from uniqueinfo.errors import InputError
from uniqueinfo.linearization.source import Source
from uniqueinfo.memory import as_text
from uniqueinfo.spectrum.rows import CHUNK_BYTES

_SQUARES = 12  # D × D matrices held at once, at most: sums on their way up the tree, eigenvectors and their workspace;
# of a sketch D × r: the directions, their images, those of the samples followed, and copies on the way
_COPIES = 4  # of a partition held at once: as read, in float64, in the eigenbasis, and what comes of it
_WHOLE = 2 * CHUNK_BYTES  # of a partition: from here on larger ones gain nothing
_LEAST = CHUNK_BYTES // 4  # of a partition: smaller ones lose, as their sums are sent about
_MANY = 32  # partitions, if there is enough to fill them: so that workers end at about the same time


def partition(source: Source, memory: int | None, directions: int | None = None) -> int:
    """Samples in a partition of a problem whose rows are summed up; `memory` where a budget was named.

    A sketch of so many `directions` sums up products with a block of them at a time, in place of squares.
    """
    assert source.width is not None
    if source.piece is not None:
        return source.piece
    square = 8 * source.width * (source.width if directions is None else directions)
    each = 8 * source.per_sample * (source.width + 8 * source.columns)
    whole = max(_WHOLE, square // 4)  # of wide rows more: adding their sums must not cost more than taking them
    if memory is not None:
        fixed = _SQUARES * square + 8 * CHUNK_BYTES
        room = memory - fixed
        if room < _COPIES * each:
            fewer = "project on fewer columns" if directions is None else "keep fewer directions"
            raise InputError(
                f"memory: {as_text(memory)} do not hold matrices of {source.width:,} × {directions or source.width:,}, "
                f"which take about {as_text(fixed)}; allow more, or {fewer}"
            )
        whole = min(whole, room // _COPIES)
    even = max(_LEAST // each, -(-source.samples // _MANY))
    return int(max(1, min(source.samples, whole // each, even)))


def slices(samples: int, size: int) -> list[slice]:
    """The partitions.

    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, samples)) for start in range(0, samples, size)]
