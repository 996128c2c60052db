"""Marks of samples as they were first read: one that is something else later would give scores of no data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.samples.datasets import Inputs, leaves


@dataclass(eq=False)
class Marks:
    """By sample, the sum of its bits; sums are as quick as reading, and need one number for each sample.

    >>> marks = Marks()
    >>> marks.check([0, 1], torch.tensor([[1.0], [2.0]]), np.array(["a", "b"]))
    >>> marks.check([1], torch.tensor([[2.5]]), np.array(["b"]))
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: sample b is something else than when it was first read: samples must stay as they \
are while they are scored, so switch off what changes them
    """

    known: dict[tuple[Any, ...], tuple[NDArray[np.int64], NDArray[np.bool_]]] = field(default_factory=dict)
    """By the shapes of a sample: one that is padded in each batch to another length has as many."""

    def check(self, chosen: Sequence[int], inputs: Inputs, ids: NDArray[Any]) -> None:
        """Remember these samples, and refuse those that are not what they were."""
        if not len(chosen):
            return
        tensors = leaves(inputs)
        shapes = tuple((name, leaf.dtype, tuple(leaf.shape[1:])) for name, leaf in tensors.items())
        marks = sum((_bits(leaf) for leaf in tensors.values()), np.zeros(len(chosen), dtype=np.int64))
        at = np.asarray(chosen, dtype=np.intp)
        found, seen = self._grown(shapes, int(at.max()) + 1)
        changed = np.flatnonzero(seen[at] & (found[at] != marks))
        if len(changed):
            raise InputError(
                f"sample {ids[changed[0]]} is something else than when it was first read: samples must stay as they "
                "are while they are scored, so switch off what changes them"
            )
        found[at], seen[at] = marks, True

    def _grown(self, shapes: tuple[Any, ...], size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        found, seen = self.known.get(shapes, (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)))
        if len(found) < size:
            size = max(size, 2 * len(found))
            found, seen = np.pad(found, (0, size - len(found))), np.pad(seen, (0, size - len(seen)))
            self.known[shapes] = found, seen
        return found, seen


def _bits(leaf: Tensor) -> NDArray[np.int64]:
    """The sum of each sample's bits, taken as whole numbers that wrap around."""
    flat = leaf.detach().cpu().contiguous().reshape(len(leaf), -1).view(torch.uint8)
    whole = next(kind for kind, size in _WIDTHS if flat.shape[1] % size == 0 and flat.storage_offset() % size == 0)
    found: NDArray[np.int64] = flat.view(whole).sum(dim=1, dtype=torch.int64).numpy()
    return found


_WIDTHS = ((torch.int64, 8), (torch.int32, 4), (torch.int16, 2), (torch.uint8, 1))
