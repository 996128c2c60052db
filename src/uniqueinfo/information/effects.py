"""Where a training sample is felt: the few validation samples whose outputs it moves most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.spectrum.rows import slices
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Effects:
    """For each training sample the validation samples it moves most, strongest first: arrays (n, few).

    The strength is ‖f_w(x_j) − f_w₋ᵢ(x_j)‖ over all outputs; of these the one that moves most is kept.
    """

    validation: NDArray[np.int64]
    """Which validation samples."""
    output: NDArray[np.int64]
    """Which of their outputs moves most."""
    change: Floats
    """By how much the sample's being there moves this output, with its sign: f_w − f_w₋ᵢ."""
    ids: NDArray[Any] | None = None
    """The user's names of these validation samples; None where they are counted."""

    @property
    def few(self) -> int:
        """How many validation samples are kept for each training sample."""
        return int(self.validation.shape[1])

    def called(self, ids: NDArray[Any] | None) -> Effects:
        """The same with the names of all validation samples known, if they have any."""
        return self if ids is None else replace(self, ids=ids[self.validation])

    @classmethod
    def joined(cls, parts: Sequence[Effects]) -> Effects:
        """Those of some training samples after those of others."""
        named = [part.ids for part in parts if part.ids is not None]
        return cls(
            np.concatenate([part.validation for part in parts]),
            np.concatenate([part.output for part in parts]),
            np.concatenate([part.change for part in parts]),
            np.concatenate(named) if named else None,
        )

    @classmethod
    def empty(cls, removals: int, few: int) -> Effects:
        """Room for those of so many removals."""
        validation, output = np.empty((2, removals, few), dtype=np.int64)
        return cls(validation, output, np.empty((removals, few)))


def strongest(delta: Tensor, probe: Probe, few: int) -> Effects:
    """The `few` strongest effects of each change δ (removals, columns, rank).

    Memory is bounded whatever the number of validation samples: of some at a time the strongest so far are kept.
    """
    few = min(few, probe.samples)
    found = Effects.empty(len(delta), few)
    for part in slices(len(delta), 8 * (4 * probe.seen.width * delta.shape[1] + probe.initial[:1].numel())):
        at, moved = _largest(delta[part], probe, few)
        output = moved.abs().argmax(dim=2)
        found.validation[part], found.output[part] = at.cpu().numpy(), output.cpu().numpy()
        found.change[part] = moved.gather(2, output[..., None])[..., 0].cpu().numpy()
    return found


def _largest(delta: Tensor, probe: Probe, few: int) -> tuple[Tensor, Tensor]:
    """The `few` samples with the largest ‖change‖ of each removal, and how all of their outputs move."""
    best: tuple[Tensor, Tensor] | None = None
    for part, moved in probe.movements(delta):
        at = torch.arange(part.start, part.stop, device=moved.device).expand(len(moved), -1)
        if best is not None:
            at, moved = torch.cat([best[0], at], dim=1), torch.cat([best[1], moved], dim=1)
        strength = moved.square().sum(dim=2)
        order = strength.sort(dim=1, descending=True, stable=True).indices[:, :few]
        best = at.gather(1, order), moved.gather(1, order[..., None].expand(-1, -1, moved.shape[2]))
    assert best is not None
    return best
