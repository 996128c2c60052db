"""Samples or groups that leave a trained linearization, and all there is to measure of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.information.judged import Judged
from uniqueinfo.information.measures import Conditioning, Measures, Smoothed, Wanted, measure
from uniqueinfo.information.smoothing import Smoothing
from uniqueinfo.progress import progress as bar
from uniqueinfo.removal.changes import Changes
from uniqueinfo.removal.groups import Groups
from uniqueinfo.removal.leaving import Removals
from uniqueinfo.removal.trained import TrainedSystem
from uniqueinfo.samples.border import Kind
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.types import Floats, Indices

_TOLD = 0.01  # the share of smoothed information made by the floor from which on it is said


_PROBE = Kind("validation samples to look at, as linearization.validation or .probe(…)", (Probe,))


@dataclass(frozen=True, eq=False)
class Removal:
    """Removals of samples or groups from one training; nothing is computed before it is asked for.

    Every measure comes in the order of the groups (of the samples, where each leaves alone).
    """

    run: TrainedSystem
    groups: Groups
    initial: Tensor
    """Outputs of the training samples before training, (n, per_sample, columns)."""

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def _removals(self) -> Removals:
        return Removals(self.run, self.groups)

    @property
    def fit_error(self) -> float:
        """The largest error of the rational fits used (0 where none was needed)."""
        return self._removals.fit_error

    def changes(self) -> Iterator[Changes]:
        """The raw changes, chunk by chunk; groups come by size."""
        return self._removals.changes()

    def measures(
        self,
        probe: Probe | None = None,
        smoothing: Smoothing | None = None,
        *,
        effects: int = 0,
        progress: bool = False,
    ) -> Measures:
        """Every measure in one pass.

        `probe`: the samples that functional information and value are about. `smoothing`: another than the identity.
        `effects`: how many of the probe's samples to keep for each removal, those it moves most. `progress`: whether to
        show how far it is.
        """
        precision = smoothing.precision(self.run) if smoothing else None
        target = probe.target(self.run.coordinates) if probe else None
        judged = None
        if probe is not None and self.run.learnt is not None:
            judged = Judged.after(probe, self.run.coordinates, self.run.learnt.loss)
        wanted = Wanted(target, precision, probe, effects=effects, judged=judged)
        found = measure(self._shown(progress), len(self), wanted)
        if found.smoothed is not None:
            warn_of_floor(found.smoothed)
        return found

    def _shown(self, show: bool) -> Iterator[Changes]:
        with bar("Leaving out", len(self), unit="removals", show=show) as advance:
            for chunk in self.changes():
                yield chunk
                advance(len(chunk.numbers))

    def weight_information(self, smoothing: Smoothing | None = None, *, exact: bool = False) -> Floats:
        """½‖w − w₋‖² of each removal; with a `smoothing` Σ, ½(w − w₋)ᵀΣ⁻¹(w − w₋) as `smoothed` gives it.

        `exact`: as there.
        """
        return self.measures().weight if smoothing is None else self.smoothed(smoothing, exact=exact).information

    def smoothed(self, smoothing: Smoothing, *, exact: bool = False) -> Smoothed:
        """Information in the weights with a `smoothing`, and how well its covariance could be inverted.

        A removal changes the steady state of SGD; with `exact=True` each removal has its own covariance Σ₋, and the
        information is KL(N(w, Σ) ‖ N(w₋, Σ₋)): an eigendecomposition for each, so for small problems.
        """
        if exact:
            found = smoothing.exact(self.run, self.changes(), len(self))
            warn_of_floor(found)
            return found
        measured = self.measures(smoothing=smoothing).smoothed
        assert measured is not None
        return measured

    def functional_information(self, probe: Probe) -> Floats:
        """(1/2m) Σ_j ‖f_w(x_j) − f_w₋(x_j)‖² over the samples of the `probe`, of each removal."""
        _PROBE.check("probe", probe)
        found = self.measures(probe).functional
        assert found is not None
        return found

    def value(self, probe: Probe) -> Floats:
        """What the mean loss on a `probe` gains by each removal; it must have targets."""
        found = self.measures(probe).value
        if found is None:
            raise InputError("the value of a sample needs the targets of the validation samples")
        return found

    def drift(self, probe: Probe) -> Floats:
        """What ½‖f − y‖² on a `probe` with targets gains by each removal, whatever loss was trained with."""
        found = measure(self.changes(), len(self), Wanted(probe.target(self.run.coordinates))).value
        assert found is not None
        return found

    def outputs(self) -> list[Floats]:
        """Outputs of the removed samples themselves after training without them: (size, outputs) for each removal."""
        fitted = (self.initial + self.run.system.fitted(self.run.coordinates)).flatten(1).cpu().numpy()
        moved = self.measures().own
        found: list[Floats] = [np.empty(0)] * len(self)
        for bucket in self.groups:
            after = fitted[bucket.members] - moved[bucket.size]
            for number, block in zip(bucket.numbers, after, strict=True):
                found[number] = block
        return found

    def output_changes(self, probe: Probe) -> Iterator[tuple[Indices, Floats]]:
        """f_w − f_w₋ on every validation sample, chunk by chunk: (numbers of the removals, (removals, m, outputs))."""
        for chunk in self.changes():
            yield chunk.numbers, probe.moved(chunk.delta.explicit())


def warn_of_floor(found: Smoothed) -> None:
    """Say where a floor under the variances, and not the data, made a part of the information."""
    warn_of_floor_share(found.conditioning, found.share_below_floor)


def warn_of_floor_share(conditioning: Conditioning | None, share: float) -> None:
    """The same by the share of all removals' information."""
    if conditioning is not None and share > _TOLD:
        warnings.warn(
            f"{share:.0%} of the smoothed information lies in the {conditioning.raised} of "
            f"{conditioning.dimensions} directions whose variance was raised to {conditioning.floor:g} of "
            "the largest: it depends on this floor. Add weight decay, stop earlier, or compare several floors.",
            stacklevel=3,
        )
