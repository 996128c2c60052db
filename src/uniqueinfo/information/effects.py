"""Where a training sample is felt: the few validation samples whose outputs it moves most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.spectrum.rows import slices

if TYPE_CHECKING:
    from uniqueinfo.linearization.linearization import Probe
    from uniqueinfo.removal.removal import Removal


@dataclass(frozen=True, eq=False)
class Effects:
    """For each training sample the validation samples it moves most, strongest first: arrays (n, few).

    The strength is ‖f_w(x_j) − f_w₋ᵢ(x_j)‖ over all outputs; of these the one that moves most is kept.
    """

    validation: NDArray[np.int64]
    """Which validation samples."""
    output: NDArray[np.int64]
    """Which of their outputs moves most."""
    change: NDArray[np.float64]
    """By how much the sample's being there moves this output, with its sign: f_w − f_w₋ᵢ."""

    @property
    def few(self) -> int:
        """How many validation samples are kept for each training sample."""
        return int(self.validation.shape[1])


def strongest(removal: Removal, probe: Probe, few: int) -> Effects:
    """The `few` strongest effects of each removal; memory is bounded whatever the number of validation samples."""
    if few < 1:
        raise InputError(f"effects: expected how many validation samples to keep for each sample, got {few}")
    few = min(few, probe.samples)
    validation, output = np.empty((2, len(removal), few), dtype=np.int64)
    change = np.empty((len(removal), few))
    for chunk in removal.changes():
        delta = chunk.delta.explicit()
        for part in slices(len(delta), 3 * 8 * probe.initial.numel()):
            moved, at = probe.moved(delta[part]), chunk.numbers[part]
            validation[at], output[at], change[at] = _largest(moved, few)
    return Effects(validation, output, change)


def _largest(moved: NDArray[np.float64], few: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The `few` samples with the largest ‖change‖ of each removal, with the output that moves most.

    >>> _largest(np.array([[[0.0, 1.0], [-3.0, 0.0], [2.0, 2.0]]]), 2)
    (array([[1, 2]]), array([[0, 0]]), array([[-3.,  2.]]))
    """
    order = np.argsort(-np.square(moved).sum(axis=2), axis=1, kind="stable")[:, :few]
    kept = np.take_along_axis(moved, order[..., None], axis=1)
    output = np.abs(kept).argmax(axis=2)
    return order, output, np.take_along_axis(kept, output[..., None], axis=2)[..., 0]
