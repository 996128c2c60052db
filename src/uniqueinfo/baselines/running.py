"""How and where networks are retrained: the options of `retrain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import torch

from uniqueinfo.baselines.descent import DecayTo, Followed, looks
from uniqueinfo.errors import InputError
from uniqueinfo.training import GradientFlow


class Running(TypedDict, total=False):
    """Options of `retrain` by keyword; each may be left out."""

    batch_size: int | None
    """Samples in a mini-batch, drawn from `seed`; a sample that has left is missing from its batch. None: all."""
    decay_to: DecayTo
    """Where weight decay pulls: to the "start" (as the scores take it), or to "zero"."""
    seed: int
    """Of the order of mini-batches; 0 when not given."""
    watch: Sequence[int]
    """Steps (along flow: leaps) of the training with all samples after which the validation outputs are kept."""
    copies: int | None
    """How many networks to train side by side; None: as many as make it quicker."""
    memory: str | int | None
    """Bytes, or text such as "4GB"; None: what the machine has free."""
    folder: str | Path | None
    """Where finished trainings are kept: a stopped run goes on there, and further samples can be added."""
    device: torch.device | str | None
    """Where to train; None: where the network is."""
    progress: bool
    """Whether to show a progress bar; shown when not given."""


@dataclass(frozen=True)
class Options:
    """The options of `retrain` with their defaults; `Running` says what each is."""

    batch_size: int | None = None
    decay_to: DecayTo = "start"
    seed: int = 0
    watch: Sequence[int] = ()
    copies: int | None = None
    memory: str | int | None = None
    folder: str | Path | None = None
    device: torch.device | str | None = None
    progress: bool = True

    def check(self, training: Followed) -> None:
        """Refuse what this training cannot do.

        >>> from uniqueinfo import GradientDescent
        >>> Options(watch=[30]).check(GradientDescent(lr=0.1, steps=25))
        Traceback (most recent call last):
        uniqueinfo.errors.InputError: watch: expected steps between 1 and 25, got [30]; leave out those outside
        """
        last = looks(training)
        if any(not 1 <= step <= last for step in self.watch):
            raise InputError(
                f"watch: expected steps between 1 and {last}, got {list(self.watch)}; leave out those outside"
            )
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"batch_size: expected at least 1, got {self.batch_size}; leave it out for all samples")
        if self.batch_size is not None and isinstance(training, GradientFlow):
            raise InputError(
                f"batch_size: gradient flow follows all samples at once, not {self.batch_size}; give GradientDescent "
                "for mini-batches"
            )
        if self.copies is not None and self.copies < 1:
            raise InputError(f"copies: expected at least 1, got {self.copies}; leave it out to have it chosen")
