"""Which samples are in the batches of a loader that a library drives: heard as its sampler names them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Self

from torch.utils.data import BatchSampler, Sampler


class Overheard(Sampler[int]):
    """A sampler that names what another one does, and remembers it until its batch has been learnt from.

    Loaders ask for more than is learnt from at once, so what was heard waits in a queue; None ends an epoch.

    >>> from torch.utils.data import SequentialSampler
    >>> batches = BatchSampler(SequentialSampler(range(5)), batch_size=2, drop_last=False)
    >>> heard = Overheard.in_place_of(batches)
    >>> list(batches)
    [[0, 1], [2, 3], [4]]
    >>> [heard.batch() for _ in range(3)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, inner: Sampler[int], size: int, *, drop_last: bool) -> None:
        self._inner, self._size, self._drop_last = inner, size, drop_last
        self._queue: deque[int | None] = deque()

    @classmethod
    def in_place_of(cls, batches: BatchSampler) -> Self:
        """Listen to a loader's sampler from now on."""
        found = cls(batches.sampler, batches.batch_size, drop_last=batches.drop_last)  # type: ignore[arg-type]
        batches.sampler = found
        return found

    def leave(self, batches: BatchSampler) -> None:
        """The sampler as it was."""
        if batches.sampler is self:
            batches.sampler = self._inner

    def __iter__(self) -> Iterator[int]:
        for position in self._inner:
            self._queue.append(int(position))
            yield position
        self._queue.append(None)

    def __len__(self) -> int:
        return len(self._inner)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        """Whatever else a loader asks of its sampler, such as `set_epoch`."""
        return getattr(self._inner, name)

    def batch(self) -> list[int] | None:
        """The samples of the next batch; None where there was none to hear."""
        found: list[int] = []
        while self._queue and len(found) < self._size:
            position = self._queue.popleft()
            if position is not None:
                found.append(position)
            elif found and not self._drop_last:
                break
            else:
                found = []
        return found or None
