"""The face of a smoothing.

Weights blurred by N(0, Σ) hold about a sample (or a group) the information

    SI_Σ = KL(N(w, Σ) ‖ N(w₋, Σ)) = ½ δᵀΣ⁻¹δ,    δ = w − w₋,

so a smoothing is a quadratic form on δ. δ lies in the row space of the Jacobian, where the eigenbasis of the training
gives it as many coordinates as there are rows or columns, whichever are fewer; Σ is never needed anywhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from uniqueinfo.information.measures import Precision, Smoothed, Wanted, measure
from uniqueinfo.removal.changes import Changes
from uniqueinfo.removal.trained import TrainedSystem


class Smoothing(ABC):
    """A way to blur the weights: a frozen value that knows its Σ⁻¹ for any training."""

    @abstractmethod
    def precision(self, run: TrainedSystem) -> Precision:
        """Σ⁻¹ for this training."""

    def exact(self, run: TrainedSystem, changes: Iterable[Changes], removals: int) -> Smoothed:
        """KL(N(w, Σ) ‖ N(w₋, Σ₋)); the same as with one Σ for all, where Σ does not depend on the training data."""
        found = measure(changes, removals, Wanted(precision=self.precision(run))).smoothed
        assert found is not None
        return found

    def settings(self) -> dict[str, Any]:
        """What to write down beside the result."""
        return {"kind": type(self).__name__}
