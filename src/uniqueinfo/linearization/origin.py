"""What scores were measured on, for questions that go on from there: leave out groups, look at other samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from torch import Tensor

from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training import Training
from uniqueinfo.types import Floats, Index


@dataclass(frozen=True, eq=False)
class Origin:
    """A trained linearization, and the validation samples it was looked at on."""

    run: Trained
    probe: Probe | None

    def points(self, samples: Index = slice(None)) -> Tensor:
        """Training samples as points, (samples, rows, rank), whose inner products are the network's kernel."""
        system = self.run.system
        return system.right(system.left(samples))

    def information(self, groups: Iterable[Iterable[int]] | None = None, *, progress: bool = False) -> Floats:
        """Of every sample, or of groups leaving together: in the function, or in the weights without validation."""
        probe = None if self.probe is None else self.probe.without_targets()  # they are for the value alone
        return self.run.leave_out(groups).measures(probe, progress=progress).information

    def trained(self, training: Training) -> Origin:
        """The same by another training."""
        return self if training is self.run.training else replace(self, run=self.run.linearization.train(training))
