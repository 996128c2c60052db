"""Which samples leave together: checked once, then handled by size, so that equal shapes form one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from uniqueinfo.errors import InputError
from uniqueinfo.types import Indices


@dataclass(frozen=True, eq=False)
class Bucket:
    """Groups of one size: their numbers in the user's order, and their members (groups, size)."""

    numbers: Indices
    members: Indices

    @property
    def size(self) -> int:
        """Samples per group."""
        return int(self.members.shape[1])


@dataclass(frozen=True, eq=False)
class Groups:
    """All removals asked for; `singles` where every sample leaves alone, in order."""

    buckets: tuple[Bucket, ...]
    singles: bool

    def __len__(self) -> int:
        return sum(len(bucket.numbers) for bucket in self.buckets)

    def __iter__(self) -> Iterator[Bucket]:
        return iter(self.buckets)

    @classmethod
    def each(cls, samples: int) -> Groups:
        """Every sample on its own."""
        alone = np.arange(samples)
        return cls((Bucket(alone, alone[:, None]),), singles=True)

    @classmethod
    def of(cls, groups: Iterable[Iterable[int]], samples: int) -> Groups:
        """Groups of any, mixed, sizes; a sample may be in several.

        >>> [bucket.members.tolist() for bucket in Groups.of([[0, 1], [2], [1, 2]], samples=3)]
        [[[2]], [[0, 1], [1, 2]]]
        """
        single = isinstance(groups, np.ndarray) and groups.ndim == 0  # which says that it can be gone through
        if not isinstance(groups, Iterable) or isinstance(groups, str) or single:
            raise InputError(f"groups: expected a list of lists of sample indices, got {type(groups).__name__}")
        lists = [_checked(number, group, samples) for number, group in enumerate(groups)]
        if not lists:
            raise InputError("groups: the list is empty; name at least one group of sample indices")
        sizes = np.array([len(members) for members in lists])
        found = (np.flatnonzero(sizes == size) for size in np.unique(sizes))
        return cls(tuple(Bucket(at, np.stack([lists[number] for number in at])) for at in found), singles=False)


def _checked(number: int, group: Iterable[int], samples: int) -> Indices:
    if not isinstance(group, Iterable):
        raise InputError(f"groups: group {number} must be a non-empty list of sample indices, got {group!r}")
    members = np.asarray(group if isinstance(group, Sequence | np.ndarray) else list(group))
    if members.ndim != 1 or len(members) == 0:
        raise InputError(f"groups: group {number} must be a non-empty list of sample indices, got {group!r}")
    if members.dtype.kind not in "iu":
        raise InputError(f"groups: group {number} must hold whole numbers, got {group!r}")
    outside = members[(members < 0) | (members >= samples)]
    if len(outside):
        raise InputError(f"groups: group {number} names sample {outside[0]}; there are samples 0 … {samples - 1}")
    values, counts = np.unique(members, return_counts=True)
    if len(values) < len(members):
        raise InputError(f"groups: group {number} names sample {values[counts.argmax()]} more than once")
    return members.astype(np.intp)
