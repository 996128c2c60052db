"""The steps of a training that happened: their rates, and, where they were told, the samples that passed by in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.types import Floats, Indices

_PART = "steps-{:09}"


@dataclass(frozen=True, eq=False)
class Steps:
    """All steps, one after the other."""

    rates: Floats
    """Of every group of parameters, (steps, groups)."""
    sizes: Indices | None = None
    """How many samples passed by in each, (steps,); None where that was not told."""
    positions: Indices | None = None
    """Which these were, step after step, (all that passed by,)."""
    outputs: NDArray[Any] | None = None
    """What the network said of them then, (all that passed by, k)."""

    def __len__(self) -> int:
        return len(self.rates)

    def __add__(self, others: Steps) -> Steps:
        return Steps(*(_joined(getattr(self, name), getattr(others, name)) for name in _FIELDS))

    def until(self, count: int) -> Steps:
        """The first of them."""
        if self.sizes is None or self.positions is None:
            return Steps(self.rates[:count])
        passed = int(self.sizes[:count].sum())
        outputs = None if self.outputs is None else self.outputs[:passed]
        return Steps(self.rates[:count], self.sizes[:count], self.positions[:passed], outputs)

    def batches(self) -> list[slice] | None:
        """Where the samples of every step stand among all that passed by."""
        if self.sizes is None:
            return None
        ends = np.cumsum(self.sizes)
        return [slice(int(end - size), int(end)) for end, size in zip(ends, self.sizes, strict=True)]

    def times(self) -> Floats:
        """Sums of the first group's rates before every step and after the last, (steps + 1,)."""
        found: Floats = np.concatenate([[0.0], np.cumsum(self.rates[:, 0])])
        return found

    def check(self, samples: int) -> None:
        """Refuse positions of samples that are not there."""
        if self.positions is not None and len(self.positions) and int(self.positions.max()) >= samples:
            raise InputError(
                f"train: the recording saw a sample at position {int(self.positions.max())}, and there are {samples}; "
                "hand over the data set that was trained on, in its order"
            )

    def check_told(self, outputs: int) -> None:
        """Refuse what was said of samples where it is not the outputs that scores are of, so many for each."""
        if self.outputs is not None and self.outputs.shape[1] != outputs:
            raise InputError(
                f"training: the recording was told {self.outputs.shape[1]} outputs of each sample, and scores are of "
                f"{outputs}; tell recording.step those, or positions alone"
            )

    @classmethod
    def even(cls, steps: Sequence[int], rates: Sequence[float]) -> Steps:
        """Of one rate between each two checkpoints.

        >>> Steps.even([0, 2, 3], [0.1, 0.5]).rates[:, 0]
        array([0.1, 0.1, 0.5])
        """
        return cls(np.repeat(np.asarray(rates, dtype=np.float64), np.diff(steps))[:, None])


_FIELDS = ("rates", "sizes", "positions", "outputs")


def write_steps(store: OwnedFolder, start: int, steps: Steps) -> None:
    """Keep some steps, of which the first has this number."""
    held = {name: getattr(steps, name) for name in _FIELDS}
    store.write_arrays(_PART.format(start), {name: array for name, array in held.items() if array is not None})


def read_steps(store: OwnedFolder) -> Steps | None:
    """All that were kept, as far as they are whole; None where there are none."""
    found: Steps | None = None
    while (arrays := store.read_arrays(_PART.format(0 if found is None else len(found)))) is not None:
        found = Steps(**arrays) if found is None else found + Steps(**arrays)
    return found


def keep_only(store: OwnedFolder, steps: Steps | None) -> None:
    """Forget all steps but these, the first."""
    store.remove("steps-*")
    if steps is not None:
        write_steps(store, 0, steps)


def _joined(one: NDArray[Any] | None, other: NDArray[Any] | None) -> Any:
    """What is not known of some is not known of all."""
    return None if one is None or other is None else np.concatenate([one, other])
