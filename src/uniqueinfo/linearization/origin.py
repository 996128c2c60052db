"""What scores were measured on, for questions that go on from there: leave out groups, look at other samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.removal.solved import Solved
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training import Training
from uniqueinfo.types import Floats, Index

_SOLVED = "leaving"  # the file of what leaves with each sample
_FUNCTIONS = 24  # of the eigenvalues, about as many as a training needs
_HELD = 2**29  # bytes of what leaves with all samples, up to which it is held and kept


@dataclass(frozen=True, eq=False)
class Origin:
    """A trained linearization, and the validation samples it was looked at on."""

    run: Trained
    probe: Probe | None
    work: OwnedFolder | None = field(default=None, kw_only=True)
    """Where what questions compute is kept for the next one; None keeps it in memory alone."""

    def points(self, samples: Index = slice(None)) -> Tensor:
        """Training samples as points, (samples, rows, rank), whose inner products are the network's kernel."""
        system = self.run.system
        return system.right(system.left(samples))

    def information(self, groups: Iterable[Iterable[int]] | None = None, *, progress: bool = False) -> Floats:
        """Of every sample, or of groups leaving together: in the function, or in the weights without validation."""
        probe = None if self.probe is None else self.probe.without_targets()  # they are for the value alone
        return self.run.leave_out(groups).measures(probe, progress=progress).information

    def output_change(self, probe: Probe, sample: int, output: int) -> Floats:
        """f_w − f_w₋ of one output of one of a probe's samples, for every training sample that leaves, (n,)."""
        direction = probe.direction(sample, output)
        if self._solved is not None:
            return _numpy(self._solved.along(self.run, direction))
        found = np.empty(self.run.samples)
        for chunk in self.run.leave_out().changes():
            found[chunk.numbers] = _numpy(chunk.delta.inner(direction))
        return found

    def trained(self, training: Training) -> Origin:
        """The same by another training."""
        if training is self.run.training:
            return self
        return replace(self, run=self.run.linearization.train(training), work=None)

    @cached_property
    def _solved(self) -> Solved | None:
        """All samples leaving one by one, where that has a closed form and is small enough to hold."""
        names = [each.name for each in fields(Solved)]
        kept = None if self.work is None else self.work.read_arrays(_SOLVED, repr(self.run.training))
        if kept is not None and names == sorted(kept, key=names.index):
            return Solved(*(torch.from_numpy(kept[name]).to(self.run.residual.device) for name in names))
        if 8 * _FUNCTIONS * self.run.residual.numel() > _HELD:
            return None
        found = Solved.of(self.run)
        if found is not None and self.work is not None:
            arrays = {name: getattr(found, name).cpu().numpy() for name in names}
            self.work.write_arrays(_SOLVED, arrays, repr(self.run.training))
        return found


def _numpy(values: Tensor) -> Floats:
    found: Floats = values.cpu().numpy()
    return found
