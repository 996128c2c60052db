"""All that scores depend on, whoever computes them and wherever they are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.information.smoothing import SGD, Smoothing
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.removal.learning import Learnt
from uniqueinfo.samples.border import WHOLE
from uniqueinfo.scoring.agreement import Trial
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.spectrum.choice import Choice
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.training import Recorded, Training
from uniqueinfo.types import Indices, Labels


@dataclass(frozen=True)
class Place:
    """Where the sources of a problem may keep what they compute."""

    work: Path | None
    """None: in memory, or nowhere."""
    local: bool
    """Whether the work is done in this process."""
    owned: bool = False
    """Whether the folder is of this very problem, so that what lies in it need not be held against the samples."""


@dataclass(frozen=True, eq=False)
class Names:
    """What the user says of the samples."""

    ids: NDArray[Any] | None = None
    columns: pd.DataFrame | None = None
    labels: Labels = None
    """As the table is to show them, where they are not those that are trained on."""
    rows: Indices | None = None
    """Where they stand in the user's file, where that is not one after the other."""
    validation: NDArray[Any] | None = None
    """The ids of the validation samples; None where they are counted."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples, a form, a training, and what to measure."""

    sources: Sources
    choice: Choice
    training: Training
    face: Callable[[Sources, Eigensystem | None], Linearization]
    """The linearization of the training samples, for questions asked later; its eigensystem may be known."""
    smoothing: Smoothing | None = None
    effects: int = 0
    names: Names = field(default_factory=Names)
    held_out: Names | None = None
    """The validation samples, where they are of the same file as the training samples and get scores too."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else to write down beside the scores."""
    factor: float = 1.0
    """Mixed outputs are fewer than the network has: what squared changes are multiplied by to speak of all."""
    ready: Callable[[Sources, Place], Sources] = lambda sources, place: sources
    """Fixes where the sources keep rows or kernels, once that is known."""
    known: Eigensystem | None = None
    """The eigendecomposition, where it was computed before."""
    trial: Trial | None = None
    """How well scores agree with exact ones, measured on some of the samples, where less than all is kept."""
    learn: Callable[[], Learnt] | None = None
    """What was learnt, where the training is followed step by step and nothing is decomposed."""

    @property
    def streams(self) -> bool:
        """Whether sums over partitions are enough, and no matrix of all samples is needed."""
        return self.choice.form in ("primal", "sketch") and self.known is None

    def check(self) -> None:
        """Refuse what cannot be, before anything is computed or written."""
        if isinstance(self.training, Recorded) and "recording" not in self.settings:
            raise InputError(
                "training: a recording is followed with its network: ui.score(model, …), or --model beside --recording"
            )
        if self.choice.form == "sketch" and not self.training.in_closed_form:
            raise InputError("sketch: follows squared error alone; leave it out, or train with loss='mse'")
        if not isinstance(self.smoothing, Smoothing | None):
            raise InputError(f"smoothing: expected a smoothing such as SGD, or None, got {self.smoothing!r}")
        if self.choice.form == "steps" and self.smoothing is not None:
            raise InputError(
                "smoothing: a recorded training is followed step by step, which tells nothing of the curvature that a "
                "smoothing needs; leave it out, or score with a training algorithm"
            )
        if self.choice.form == "sketch" and isinstance(self.smoothing, SGD):
            raise InputError(
                "smoothing: SGD needs every direction, and a sketch keeps only some; take another, or no sketch"
            )
        if not WHOLE.fits(self.effects) or self.effects < 0:
            raise InputError(
                f"effects: expected how many validation samples to keep for each sample, got {self.effects!r}"
            )
        if self.effects and self.sources.val is None:
            raise InputError("effects: there are no validation samples to feel them; hand some over")
