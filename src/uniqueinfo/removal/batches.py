"""The batches of a training that happened, and of the same training without some samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.removal.blocks import staying
from uniqueinfo.training import Recorded
from uniqueinfo.training.steps import Steps
from uniqueinfo.types import Indices


@dataclass(frozen=True, eq=False)
class Batch:
    """The samples of one step: those of the run with all samples, then those that come into their place."""

    step: int
    positions: Indices
    size: int
    """How many the run with all samples has."""
    said: Tensor | None = None
    """What the network said of these, where that was recorded."""
    places: Indices | None = None
    """Where each stands in its epoch, where those behind move up when some leave; None where places stay empty."""
    order: Indices | None = None
    """The place of every sample in that epoch."""

    def whole(self, like: Tensor) -> Tensor:
        """1 for those of the run with all samples, (samples, 1)."""
        return (torch.arange(len(self.positions), device=like.device) < self.size).to(like)[:, None]

    def without(self, members: Indices, like: Tensor) -> Tensor:
        """1 for those of each run without some, (removals, samples, 1)."""
        there = staying(members, self.positions, like)
        if self.places is None or self.order is None:
            return there
        before = (self.order[members][:, :, None] < self.places).sum(axis=1)
        moved = self.places - before - self.places[0]
        return there * torch.from_numpy((moved >= 0) & (moved < self.size)).to(like)[..., None]


def batches_of(training: Recorded, samples: int, leaving: int, like: Tensor) -> Iterator[Batch]:
    """Every step of a training, from which at most so many samples leave together.

    Where it was not told which samples were in a batch, every step has all of them.
    """
    steps = training.steps
    parts = steps.batches()
    if parts is None or steps.positions is None:
        if training.place == "next":
            raise InputError('place="next": the recording was not told which samples were in its batches; leave it out')
        everyone = np.arange(samples)
        yield from (Batch(step, everyone, samples) for step in range(len(steps)))
        return
    epochs = _epochs(training, samples) if training.place == "next" else None
    for step, part in enumerate(parts):
        size = part.stop - part.start
        if epochs is None:
            yield Batch(step, steps.positions[part], size, _said(steps, part, like))
            continue
        epoch, start = epochs[part.start // samples], part.start % samples
        places = np.arange(start, min(start + size + leaving, samples))
        said = _said(steps, slice(part.start, part.start + len(places)), like)
        yield Batch(step, epoch[places], size, said, places, np.argsort(epoch))


def _said(steps: Steps, part: slice, like: Tensor) -> Tensor | None:
    """What was said of samples when they passed by; of those that move up, a step later."""
    return None if steps.outputs is None else torch.from_numpy(steps.outputs[part]).to(like)


def _epochs(training: Recorded, samples: int) -> Indices:
    """The order of all samples in every epoch, (epochs, samples)."""
    steps = training.steps
    assert steps.positions is not None
    assert steps.sizes is not None
    whole = len(steps.positions) // samples * samples
    found = steps.positions[:whole].reshape(-1, samples)
    ends = set(np.cumsum(steps.sizes).tolist())
    complete = whole == len(steps.positions) and all(samples * (at + 1) in ends for at in range(len(found)))
    if not complete or not (np.sort(found, axis=1) == np.arange(samples)).all():
        raise InputError(
            f'{training.folder}: place="next" is for epochs that go through every sample once, and these do not; leave '
            "it out"
        )
    return found
