"""What scores were measured on, for questions that go on from there: leave out groups, look at other samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from uniqueinfo.linearization.linearization import Probe, Trained


@dataclass(frozen=True, eq=False)
class Origin:
    """A trained linearization, and the validation samples it was looked at on."""

    run: Trained
    probe: Probe | None

    def points(self, samples: slice | NDArray[np.intp] = slice(None)) -> Tensor:
        """Training samples as points, (samples, rows, rank), whose inner products are the network's kernel."""
        system = self.run.system
        return system.right(system.left(samples))
